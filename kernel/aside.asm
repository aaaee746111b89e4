; Where clock_aside() goes when it isn't plain (kernel/aside.h): an interrupt gate, so that one
; instruction saves the flags and turns interrupts off. In the lab the way back is taken when
; the TSC is exactly what aside_in_lab() says.

global aside_entry
extern aside_in_lab, aside_plain, aside_exact, aside_step_shift

; Instructions after the second rdtsc, up to iret, without the nop and the loop.
FIXED		equ 9

section .text

aside_entry:
	pushad				; 1st
	cmp	byte [aside_exact], 0	; 2nd
	je	.plain			; 3rd
	rdtsc				; 4th: ASIDE_RDTSC in kernel/aside.c
	mov	ecx, esp
	call	aside_in_lab
	mov	esi, eax
	mov	ecx, [aside_step_shift]
	rdtsc
	sub	esi, eax
	shr	esi, cl
	sub	esi, FIXED		; what is left for the loop, whose turn takes two
	jc	.late
	shr	esi, 1
	jz	.late
	jnc	.turn
	nop
.turn:	dec	esi
	jnz	.turn
	popad
	iret

.plain:
	mov	eax, esp
	call	aside_plain
	popad
	iret

.late:	ud2				; the slack in kernel/aside.c is too small

section .note.GNU-stack noalloc noexec nowrite progbits
