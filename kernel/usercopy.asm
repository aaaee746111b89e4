; The only instructions by which the kernel touches user memory: those with a label of
; their own below. A page fault at one of them that mm/fault.c can't mend continues at
; usercopy_failed; any fault at the two of usercopy_try at usercopy_try_failed, whether it
; could be mended or not (kernel/usercopy.c: usercopy_fixup, usercopy_try_fixup).
; All take their arguments in registers and push nothing, so that giving up is a return.
; Ranges were checked by the callers, in kernel/usercopy.h.

bits 32
section .text

EFAULT		equ 14
ENAMETOOLONG	equ 91
; Bytes in struct ipc_message: its head (label to handle_count), and from there
; to data_bytes; token and what follows.
HEAD_TO_BYTES	equ 16
HEAD_TO_TOKEN	equ 24
TOKEN_WORDS	equ 4

global usercopy_words, usercopy_bytes, usercopy_string
global usercopy_try, usercopy_try_bytes, usercopy_try_failed
global usercopy_reply, usercopy_reply_bytes
global usercopy_received, usercopy_received_bytes, usercopy_received_token
global usercopy_longs, usercopy_rest, usercopy_char, usercopy_failed

; ecx words from esi to edi. eax = 0 or -EFAULT. Changes ecx, esi, edi.
usercopy_words:
	rep movsd
	xor	eax, eax
	ret

; The head of the user's message at esi, ecx words, to edi. eax = its data_bytes, or -EFAULT
; if any of it isn't there right now. Changes ecx, esi, edi.
usercopy_try:
	rep movsd
usercopy_try_bytes:
	mov	eax, [esi + HEAD_TO_BYTES]
	ret
usercopy_try_failed:
	mov	eax, -EFAULT
	ret

; The head of the kernel's message at esi, ecx words, to the user's at edi, and 0 to its
; data_bytes. eax = 0 or -EFAULT. Changes ecx, esi, edi.
usercopy_reply:
	rep movsd
usercopy_reply_bytes:
	mov	[edi + HEAD_TO_BYTES], ecx
	xor	eax, eax
	ret

; The same, and what the kernel says of the sender.
usercopy_received:
	rep movsd
usercopy_received_bytes:
	mov	[edi + HEAD_TO_BYTES], ecx
	add	esi, HEAD_TO_TOKEN
	add	edi, HEAD_TO_TOKEN
	mov	cl, TOKEN_WORDS
usercopy_received_token:
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
