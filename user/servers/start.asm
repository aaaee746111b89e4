; Where the proc server begins. The kernel's first program has no argument list; it
; gets a stack and nothing more.
section .text
global _start
extern proc_main
extern sys_exit

_start:
	xor	ebp, ebp
	and	esp, -16
	call	proc_main
	sub	esp, 12
	push	eax
	call	sys_exit
	hlt				; not reached: sys_exit doesn't return
