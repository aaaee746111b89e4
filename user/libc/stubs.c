/*
 * The system call stubs: sys_NAME() for every line of kernel/abi/syscalls.def.
 * They are assembler because the table has no types; clockhand.h has them.
 */
/* Arguments lie on the stack above the return address and what is pushed here. This is for
 * more than three; all six are loaded, as a stack has that much above it. */
__asm__(
	".pushsection .text.syscall_enter, \"ax\"\n"
	"syscall_enter:\n"
	"	pushl	%ebx\n"
	"	pushl	%esi\n"
	"	pushl	%edi\n"
	"	pushl	%ebp\n"
	"	movl	20(%esp), %ebx\n"
	"	movl	24(%esp), %ecx\n"
	"	movl	28(%esp), %edx\n"
	"	movl	32(%esp), %esi\n"
	"	movl	36(%esp), %edi\n"
	"	movl	40(%esp), %ebp\n"
	"	int	$0x80\n"
	"	popl	%ebp\n"
	"	popl	%edi\n"
	"	popl	%esi\n"
	"	popl	%ebx\n"
	"	ret\n"
	".popsection\n");

/* Up to three arguments, the usual case: ecx and edx need not be kept. */
#define X(number, name, args)						\
	__asm__(".pushsection .text.sys_" #name ", \"ax\"\n"		\
		".globl sys_" #name "\n"				\
		".type sys_" #name ", @function\n"			\
		"sys_" #name ":\n"					\
		"	movl	$" #number ", %eax\n"			\
		".if " #args " > 3\n"					\
		"	jmp	syscall_enter\n"			\
		".else\n"						\
		"	pushl	%ebx\n"				\
		"	movl	8(%esp), %ebx\n"			\
		".if " #args " > 1\n"					\
		"	movl	12(%esp), %ecx\n"			\
		".endif\n"						\
		".if " #args " > 2\n"					\
		"	movl	16(%esp), %edx\n"			\
		".endif\n"						\
		"	int	$0x80\n"				\
		"	popl	%ebx\n"				\
		"	ret\n"						\
		".endif\n"						\
		".popsection\n");
#include "kernel/abi/syscalls.def"
#undef X
