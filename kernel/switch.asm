; Switching kernel stacks. What a thread needs to go on lies on its own stack: the
; registers that the C convention lets a callee keep (System V ABI, i386), and the
; address to return to. Everything else the compiler has saved at the call.

global context_switch, thread_entry
extern thread_begin, thread_exit

section .text

; void context_switch(uint32_t *save_esp, uint32_t next_esp), in eax and edx
; Save where we are, go on where `next_esp` was saved. Interrupts off.
context_switch:
	push	ebp
	push	ebx
	push	esi
	push	edi
	mov	[eax], esp
	mov	esp, edx
	pop	edi
	pop	esi
	pop	ebx
	pop	ebp
	ret

; The first thing that a new thread runs: thread_create() laid its stack out so that
; context_switch() pops ebx = fn, esi = arg and ebp = 0 (a backtrace ends here).
thread_entry:
	call	thread_begin
	mov	eax, esi
	call	ebx
	call	thread_exit		; does not return

section .note.GNU-stack noalloc noexec nowrite progbits
