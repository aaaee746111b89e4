; The only four instructions by which the kernel touches user memory: usercopy_words,
; usercopy_longs, usercopy_rest and usercopy_char. A page fault at one of them that
; mm/fault.c can't mend continues at usercopy_failed (kernel/usercopy.c: usercopy_fixup).
; All take their arguments in registers and push nothing, so that giving up is a return.
; Ranges were checked by the callers, in kernel/usercopy.h.

bits 32
section .text

EFAULT		equ 14
ENAMETOOLONG	equ 91

global usercopy_words, usercopy_bytes, usercopy_string
global usercopy_longs, usercopy_rest, usercopy_char, usercopy_failed

; ecx words from esi to edi. eax = 0 or -EFAULT. Changes ecx, esi, edi.
usercopy_words:
	rep movsd
	xor	eax, eax
	ret

; ecx bytes from esi to edi, words first. eax = 0 or -EFAULT. Changes ecx, edx, esi, edi.
usercopy_bytes:
	mov	edx, ecx
	and	edx, 3
	shr	ecx, 2
usercopy_longs:
	rep movsd
	mov	ecx, edx
usercopy_rest:
	rep movsb
	xor	eax, eax
	ret

; From esi to edi up to and with the NUL, ecx bytes (1 or more) at most. eax = 0,
; -EFAULT, or -ENAMETOOLONG; esi is behind the NUL. Changes ecx, esi, edi.
usercopy_string:
usercopy_char:
	lodsb
	stosb
	test	al, al
	loopnz	usercopy_char
	jnz	.long
	xor	eax, eax
	ret
.long:	mov	eax, -ENAMETOOLONG
	ret

usercopy_failed:
	mov	eax, -EFAULT
	ret
