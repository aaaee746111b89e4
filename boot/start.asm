; From the boot loader to C.
;
; The loader (GRUB or QEMU, multiboot 1) leaves us in protected mode at the physical
; address of start (the ELF header names the virtual one; both convert it), paging off, eax = magic, ebx = physical address of its
; information. We map the first 4 MiB at 0 and at 3 GiB with one page table, turn
; paging on, go on in the upper half, drop the lower one, load GDT, TSS and IDT
; (kernel/entry.asm) so that from the first C instruction on every fault is told in
; words, and call kernel_main(magic, info).
;
; The page below the boot stack stays unmapped: an overflow is a double fault, which
; has a stack of its own.

KERNEL_BASE	equ 0xc0000000
MB_MAGIC	equ 0x1badb002
MB_PAGE_ALIGN	equ 1			; modules begin on a page
MB_MEMORY	equ 2			; we want the memory map
MB_FLAGS	equ MB_PAGE_ALIGN | MB_MEMORY
CR0_PG_WP	equ 0x80010000		; paging, and read-only counts in ring 0 too
BOOT_STACK_BYTES equ 8192

extern kernel_main, trap_tables_load, bss_start, bss_end
global start, boot_pgdir, boot_table, boot_stack_guard, boot_stack_top

section .multiboot align=4
	dd MB_MAGIC
	dd MB_FLAGS
	dd -(MB_MAGIC + MB_FLAGS)

section .text
start:
	cli
	cld
	mov	esi, eax		; magic, kept across rep stosd

	mov	edi, bss_start - KERNEL_BASE	; loaders clear it; not all in all cases
	mov	ecx, bss_end - KERNEL_BASE
	sub	ecx, edi
	shr	ecx, 2
	xor	eax, eax
	rep stosd

	mov	edi, boot_table - KERNEL_BASE
	mov	eax, 3			; frame 0, present, writable
	mov	ecx, 1024
.fill:	stosd
	add	eax, 4096
	loop	.fill

	mov	eax, boot_stack_guard - KERNEL_BASE
	shr	eax, 12
	mov	dword [boot_table - KERNEL_BASE + eax * 4], 0

	mov	eax, boot_table - KERNEL_BASE + 3
	mov	[boot_pgdir - KERNEL_BASE], eax
	mov	[boot_pgdir - KERNEL_BASE + (KERNEL_BASE >> 22) * 4], eax

	mov	eax, boot_pgdir - KERNEL_BASE
	mov	cr3, eax
	mov	eax, cr0
	or	eax, CR0_PG_WP
	mov	cr0, eax
	mov	eax, .upper
	jmp	eax
.upper:
	mov	dword [boot_pgdir], 0
	mov	eax, cr3
	mov	cr3, eax
	mov	esp, boot_stack_top
	xor	ebp, ebp		; backtraces end here
	call	trap_tables_load
	mov	eax, esi
	mov	edx, ebx
	call	kernel_main
.stop:	hlt				; kernel_main does not return
	jmp	.stop

section .bss.page_aligned nobits alloc noexec write align=4096
boot_pgdir:	resb 4096
boot_table:	resb 4096		; maps the first 4 MiB, for ever
boot_stack_guard: resb 4096
		resb BOOT_STACK_BYTES
boot_stack_top:
