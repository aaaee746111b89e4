; The only three instructions by which the kernel touches user memory: usercopy_words,
; usercopy_rest and usercopy_char. A page fault at one of them that mm/fault.c can't
; mend continues at usercopy_failed (kernel/usercopy.c: usercopy_fixup), where the
; stack is as after the three pushes. Ranges were checked by the callers.

bits 32
section .text

EFAULT		equ 14
ENAMETOOLONG	equ 91

global usercopy_bytes, usercopy_string
global usercopy_words, usercopy_rest, usercopy_char, usercopy_failed

; int usercopy_bytes(void *to, const void *from, size_t bytes)
; Copies forward, words first. Returns 0 or -EFAULT.
usercopy_bytes:
	push	ebp
	mov	ebp, esp
	push	esi
	push	edi
	mov	edi, [ebp + 8]
	mov	esi, [ebp + 12]
	mov	edx, [ebp + 16]
	mov	ecx, edx
	shr	ecx, 2
	and	edx, 3
usercopy_words:
	rep movsd
	jz	usercopy_done		; rep leaves the flags of the `and`
	mov	ecx, edx
usercopy_rest:
	rep movsb
usercopy_done:
	xor	eax, eax
	pop	edi
	pop	esi
	pop	ebp
	ret

; int usercopy_string(char *to, const char *from, size_t size)
; Copies up to and with the NUL, `size` bytes at most. Returns the length without the
; NUL, -EFAULT, or -ENAMETOOLONG.
usercopy_string:
	push	ebp
	mov	ebp, esp
	push	esi
	push	edi
	mov	edi, [ebp + 8]
	mov	esi, [ebp + 12]
	mov	ecx, [ebp + 16]
	jecxz	usercopy_long
usercopy_char:
	lodsb
	stosb
	test	al, al
	loopnz	usercopy_char
	jnz	usercopy_long
	lea	eax, [esi - 1]
	sub	eax, [ebp + 12]
	pop	edi
	pop	esi
	pop	ebp
	ret
usercopy_long:
	mov	eax, -ENAMETOOLONG
	pop	edi
	pop	esi
	pop	ebp
	ret

usercopy_failed:
	mov	eax, -EFAULT
	pop	edi
	pop	esi
	pop	ebp
	ret
