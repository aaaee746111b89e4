; Entry to and exit from the kernel, and the tables that the CPU asks for: GDT, IDT,
; the TSS that holds esp0, and the TSS of the double fault.
;
; Every entry builds a struct trap_frame (kernel/trap.h) on the kernel stack:
;
;   interrupts, exceptions    stub --> trap_common --> trap_kernel(tf) or trap_user(tf)
;   int 0x80                  syscall_entry --> syscall_dispatch(tf)
;   int 0x81                  of the kernel itself, without a frame: kernel/aside.asm
;   double fault              task gate --> double_fault_entry, on a stack of its own
;
; All gates turn interrupts off. ds and es hold USER_DATA in the kernel too: it is flat,
; as KERNEL_DATA is, and needs no change on the way out. Each entry from user mode loads
; it, for programs may have loaded what they like.
; fs and gs are never touched by the kernel.

KERNEL_BASE	equ 0xc0000000
KERNEL_CODE	equ 0x08
KERNEL_DATA	equ 0x10
USER_DATA	equ 0x23
TSS_SELECTOR	equ 0x28
FAULT_TSS_SELECTOR equ 0x30

TF_EAX		equ 28			; offsets in struct trap_frame
TF_CS		equ 44
TF_BYTES	equ 60

GATE_KERNEL	equ 0x8e00		; present, interrupt gate, DPL 0
GATE_USER	equ 0xee00		; the same, DPL 3
GATE_TASK	equ 0x8500
STUBS		equ 48			; 32 exceptions, 16 interrupts
SYSCALL_VECTOR	equ 0x80
ASIDE_VECTOR	equ 0x81
STUB_BYTES	equ 16
SYSCALL_ARGS_BYTES equ 24
FAULT_STACK_BYTES equ 4096

extern trap_kernel, trap_user, trap_double_fault, syscall_dispatch
extern trap_leave, aside_entry
extern current, fpu_user, fpu_disable, boot_pgdir, boot_stack_top
global trap_tables_load, return_to_user, kernel_tss, fault_stack
global fault_stack_top

section .text

; Fill in GDT and IDT and load them, with the TSS. Keeps ebx, esi, esp.
trap_tables_load:
	push	ebx
	push	esi
	mov	edi, idt
	mov	eax, stubs
	mov	ecx, STUBS
.gate:	call	gate_set
	add	eax, STUB_BYTES
	add	edi, 8
	loop	.gate
	mov	edi, idt + SYSCALL_VECTOR * 8
	mov	eax, syscall_entry
	call	gate_set
	mov	edi, idt + ASIDE_VECTOR * 8
	mov	eax, aside_entry
	call	gate_set
	mov	word [idt + SYSCALL_VECTOR * 8 + 4], GATE_USER
	mov	word [idt + 3 * 8 + 4], GATE_USER	; int3
	mov	word [idt + 4 * 8 + 4], GATE_USER	; into
	mov	dword [idt + 8 * 8], FAULT_TSS_SELECTOR << 16
	mov	dword [idt + 8 * 8 + 4], GATE_TASK

	mov	edi, gdt + TSS_SELECTOR
	mov	eax, kernel_tss
	call	tss_descriptor_set
	mov	edi, gdt + FAULT_TSS_SELECTOR
	mov	eax, fault_tss
	call	tss_descriptor_set

	lgdt	[gdt_pointer]
	jmp	KERNEL_CODE:.reload
.reload:
	mov	eax, KERNEL_DATA
	mov	ss, ax
	mov	eax, USER_DATA
	mov	ds, ax
	mov	es, ax
	xor	eax, eax
	mov	fs, ax
	mov	gs, ax
	mov	eax, TSS_SELECTOR
	ltr	ax
	lidt	[idt_pointer]
	pop	esi
	pop	ebx
	ret

; Interrupt gate at edi to the code at eax. Changes edx.
gate_set:
	mov	edx, eax
	mov	[edi], dx
	mov	word [edi + 2], KERNEL_CODE
	mov	word [edi + 4], GATE_KERNEL
	shr	edx, 16
	mov	[edi + 6], dx
	ret

; Base eax into the TSS descriptor at edi. Changes eax.
tss_descriptor_set:
	mov	[edi + 2], ax
	shr	eax, 16
	mov	[edi + 4], al
	mov	[edi + 7], ah
	ret

; One stub a vector; the CPU pushes an error code for some, we push 0 for the rest.
align STUB_BYTES
stubs:
%assign vector 0
%rep STUBS
	align STUB_BYTES
%if vector = 8 || (vector >= 10 && vector <= 14) || vector = 17
%else
	push	byte 0
%endif
	push	byte vector
	jmp	trap_common
%assign vector vector + 1
%endrep

trap_common:
	pushad
	cld
	test	byte [esp + TF_CS], 3
	jz	.kernel
	mov	eax, USER_DATA
	mov	ds, eax
	mov	es, eax
	mov	eax, esp
	call	trap_user
	jmp	user_return
.kernel:
	mov	eax, esp
	call	trap_kernel
	popad
	add	esp, 8			; vector, error
	iret

; Where a new user thread starts.
return_to_user:
	cli
	mov	eax, [current]
	mov	esp, [eax + 4]		; thread.kstack_top
	sub	esp, TF_BYTES
	call	trap_leave
	jmp	short user_return

; The number of a system call is in eax, its arguments are the other registers, in the
; order of docs/formats.md. Its result goes into the frame.
syscall_entry:
	push	byte 0
	push	dword SYSCALL_VECTOR
	pushad
	cld
	push	ebp
	push	edi
	push	esi
	push	edx
	push	ecx
	push	ebx
	mov	edx, USER_DATA
	mov	ds, edx
	mov	es, edx
	call	syscall_dispatch
	add	esp, SYSCALL_ARGS_BYTES
	mov	[esp + TF_EAX], eax

; Interrupts are off; esp = a frame from user mode, and the thread is ready to go there.
user_return:
	cmp	dword [fpu_user], 0	; the FPU is open to one thread only
	je	.closed
	mov	eax, [fpu_user]
	cmp	eax, [current]
	je	.closed
	call	fpu_disable
.closed:
	popad
	add	esp, 8
	iret

; The CPU has saved what was interrupted in kernel_tss.
double_fault_entry:
	cld
	call	trap_double_fault	; does not return

section .data
align 8
gdt:
	dq	0
	dq	0x00cf9a000000ffff	; kernel code, flat
	dq	0x00cf92000000ffff	; kernel data
	dq	0x00cffa000000ffff	; user code
	dq	0x00cff2000000ffff	; user data
	dq	0x0000890000000067	; kernel_tss: 104 bytes, base filled in
	dq	0x0000890000000067	; fault_tss
gdt_end:

gdt_pointer:
	dw	gdt_end - gdt - 1
	dd	gdt
align 4
idt_pointer:
	dw	(ASIDE_VECTOR + 1) * 8 - 1
	dd	idt

; Fields as the i486 manual lists them (Figure 6-1).
align 16
kernel_tss:
	dd	0
	dd	boot_stack_top		; esp0: the scheduler keeps it
	dd	KERNEL_DATA		; ss0
	times 22 dd 0
	dd	104 << 16		; no I/O permission map
fault_tss:
	times 7 dd 0
	dd	boot_pgdir - KERNEL_BASE	; cr3
	dd	double_fault_entry	; eip
	dd	2			; eflags
	times 4 dd 0
	dd	fault_stack_top		; esp
	times 3 dd 0
	dd	KERNEL_DATA, KERNEL_CODE, KERNEL_DATA, KERNEL_DATA	; es cs ss ds
	dd	0, 0, 0			; fs gs ldt
	dd	104 << 16

section .bss
alignb 8
idt:		resb (ASIDE_VECTOR + 1) * 8
alignb 16
fault_stack:	resb FAULT_STACK_BYTES
fault_stack_top:
