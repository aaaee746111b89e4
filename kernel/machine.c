/*
 * machine(): what proc and the shell ask of the machine as a whole, and the faults that
 * tests plant. swapon and swapoff stand here too. There is one user so far, so everybody
 * may; uid 0 only, once programs run as others.
 */
#include "kernel/abi/errno.h"
#include "kernel/abi/sysinfo.h"
#include "kernel/console.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "kernel/usercopy.h"
#include "mm/audit.h"
#include "mm/reclaim.h"
#include "mm/swap.h"

PARAM_U32(test_faults, "test.faults", 0, 0, 1);

enum { DEVICE_NAME_BYTES = 16, TRACE_RECORDS_MAX = 65536 };

/* ---- Planted faults ---- */

/* With an empty IDT the next exception can't be delivered, nor the double fault that
 * follows: the CPU resets. */
static NORETURN void fault_triple(void)
{
	static const struct { uint16_t limit; uint32_t base; }
		__attribute__((packed)) none = { 0, 0 };

	__asm__ volatile("cli; lidt %0; int3" : : "m"(none));
	__builtin_unreachable();
}

static NORETURN void fault_hang(void)
{
	irq_save();
	for (;;)
		__asm__ volatile("hlt");
}

/* Fills the kernel stack until the guard page is hit. */
static uint32_t __attribute__((noinline)) fault_overflow(uint32_t depth)
{
	volatile uint32_t waste[64];

	waste[depth % 64] = depth;
	if (depth != UINT32_MAX)
		waste[0] = fault_overflow(depth + 1);
	return waste[0] + waste[depth % 64];
}

/* Only with test.faults=1; -EPERM otherwise. */
static int32_t planted_fault(uint32_t op, uint32_t arg)
{
	if (op < MACHINE_PANIC || op > MACHINE_LOSE)
		return -EINVAL;
	if (!test_faults)
		return -EPERM;
	switch (op) {
	case MACHINE_PANIC:
		panic("planted panic %u", arg);
	case MACHINE_TRIPLE:
		fault_triple();
	case MACHINE_HANG:
		fault_hang();
	case MACHINE_OVERFLOW:
		return (int32_t)fault_overflow(arg);
	case MACHINE_LOSE:
		return memory_lose(arg);
	default:
		return audit_break(arg);
	}
}

/* machine(MACHINE_*, arg) */
int32_t sys_machine(const uint32_t *arg)
{
	if (current_task()->uid != 0)
		return -EPERM;
	switch (arg[0]) {
	case MACHINE_POWEROFF:
		machine_poweroff((int)(arg[1] & 0xff));
	case MACHINE_AUDIT:
		return (int32_t)MIN(audit(), (unsigned)INT32_MAX);
	case MACHINE_DROP_CACHES:
		return (int32_t)reclaim_drop_caches();
	case MACHINE_TRACE:
		trace_dump(MIN(arg[1], (uint32_t)TRACE_RECORDS_MAX));
		return OK;
	default:
		return planted_fault(arg[0], arg[1]);
	}
}

/* ---- Swap areas ---- */

/* The name of a device at user address `from`, for root only. A length or -errno. */
static int area_name(char name[DEVICE_NAME_BYTES], vaddr_t from)
{
	if (current_task()->uid != 0)
		return -EPERM;
	return copy_string_from_user(name, from, DEVICE_NAME_BYTES);
}

/* swapon(name, priority): "hdb1"; priority -1 is the next lower one. */
int32_t sys_swapon(const uint32_t *arg)
{
	char name[DEVICE_NAME_BYTES];
	int length = area_name(name, arg[0]);

	return length < 0 ? length : swap_on(name, (int)arg[1]);
}

/* swapoff(name) */
int32_t sys_swapoff(const uint32_t *arg)
{
	char name[DEVICE_NAME_BYTES];
	int length = area_name(name, arg[0]);

	return length < 0 ? length : swap_off(name);
}
