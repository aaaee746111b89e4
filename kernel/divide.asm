; libgcc's 64-bit division for callers built with -mregparm=3. gcc calls these names by
; itself, first operand in edx:eax; libgcc takes everything on the stack. The linker's
; --wrap sends the calls here (tools/make/kernel.mk).

bits 32
section .text

extern __real___udivdi3, __real___udivmoddi4
global __wrap___udivdi3, __wrap___udivmoddi4

; uint64_t (uint64_t edx:eax, uint64_t [esp + 4])
__wrap___udivdi3:
	push	dword [esp + 8]
	push	dword [esp + 8]
	push	edx
	push	eax
	call	__real___udivdi3
	add	esp, 16
	ret

; uint64_t (uint64_t edx:eax, uint64_t [esp + 4], uint64_t *remainder [esp + 12])
__wrap___udivmoddi4:
	push	dword [esp + 12]
	push	dword [esp + 12]
	push	dword [esp + 12]
	push	edx
	push	eax
	call	__real___udivmoddi4
	add	esp, 20
	ret

section .note.GNU-stack noalloc noexec nowrite progbits
