; Where a new thread begins. The switch itself is context_switch() in kernel/sched.h.

global thread_entry
extern thread_begin, thread_exit

section .text

; The first thing that a new thread runs: context_switch() returns here, to a stack that
; thread_create() has laid out (struct first_frame): ebp = 0, where a backtrace ends, fn, arg.
thread_entry:
	pop	ebp
	call	thread_begin
	pop	edx
	pop	eax
	call	edx
	call	thread_exit		; does not return

section .note.GNU-stack noalloc noexec nowrite progbits
