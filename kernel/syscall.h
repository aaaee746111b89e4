/* Every system call's function in the kernel, from the one table. */
#ifndef KERNEL_SYSCALL_H
#define KERNEL_SYSCALL_H

#include "kernel/types.h"

/* `arg` holds ebx ecx edx esi edi ebp. Returns a value or a negative errno, which
 * becomes eax. Runs in the caller's context, with interrupts on, and may sleep. */
#define X(number, name, arguments) int32_t sys_##name(const uint32_t *arg);
#include "kernel/abi/syscalls.def"
#undef X

#endif
