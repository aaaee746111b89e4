/*
 * int 0x80: from a trap frame to the function of the call, and its result back into
 * eax. The table comes from kernel/abi/syscalls.def; what a call costs besides its own
 * work is here and in kernel/entry.asm, so this file stays short.
 */
#include "kernel/abi/errno.h"
#include "kernel/abi/ipc.h"
#include "kernel/counters.h"
#include "kernel/crossing.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "kernel/trap.h"

/* Results in [-ERRNO_MAX, -1] are errors; everything else is a value (mmap's
 * addresses above 2 GiB look negative too). */
enum { ERRNO_MAX = 4095 };

typedef int32_t (*syscall_function)(const uint32_t *arg);

static int32_t no_such_call(const uint32_t *arg)
{
	(void)arg;
	return -ENOSYS;
}

/* Numbers without a line in the table come first, and are overridden by those with one. */
#define X(number, name, arguments) [number] = 0,
enum { SYSCALL_COUNT = sizeof((char[]){
#include "kernel/abi/syscalls.def"
}) };
#undef X
static const syscall_function syscall_table[SYSCALL_COUNT] = {
	[0 ... SYSCALL_COUNT - 1] = no_such_call,
#define X(number, name, arguments) [number] = sys_##name,
#include "kernel/abi/syscalls.def"
#undef X
};

/* An error leaves a SYSCALL_BAD in the trace; success leaves nothing. */
static __attribute__((noinline, cold)) void trace_bad(int32_t result)
{
	TRACE(SYSCALL_BAD, current_task()->pid, current_trap_frame()->eax, -result);
}

/* Do system call `number`, a trap from user mode, and return its result; the arguments are
 * ebx, ecx, edx, esi, edi, ebp. An unknown number gives -ENOSYS. Interrupts are off at the beginning
 * and at the end. */
int32_t syscall_dispatch(uint32_t number, struct syscall_arguments from_user)
{
	int32_t result = -ENOSYS;

	thread_enter_kernel();
	irq_on();
	COUNT(syscalls);
	if (number < SYSCALL_COUNT)
		result = syscall_table[number](from_user.arg);
	if ((uint32_t)result >= (uint32_t)-ERRNO_MAX)
		trace_bad(result);
	irq_off();
	thread_leave_kernel();
	return result;
}

/* null(): what a call costs. */
int32_t sys_null(const uint32_t *arg)
{
	(void)arg;
	return OK;
}

/* yield(): let equals and betters run. */
int32_t sys_yield(const uint32_t *arg)
{
	(void)arg;
	sched_yield();
	return OK;
}
