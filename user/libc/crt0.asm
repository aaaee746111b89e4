; Where every program begins. The kernel enters with esp at argc (docs/formats.md,
; "The first stack") and all other registers 0.
section .text
global _start
extern libc_start

_start:
	xor	ebp, ebp		; the last frame of backtraces
	mov	eax, esp
	and	esp, -16
	sub	esp, 12
	push	eax
	call	libc_start		; doesn't return

; newlib's __libc_init_array calls these; all of ours goes through init_array.
global _init
global _fini
_init:
_fini:
	ret
