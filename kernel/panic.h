/* The end of the road, told in words: cause, registers, backtrace, trace ring. */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

#include "kernel/types.h"

struct trap_frame;

NORETURN void panic(const char *fmt, ...) PRINTF(1, 2);

/* As panic(), with the registers of a trap. */
NORETURN void panic_trap(const struct trap_frame *tf, const char *fmt, ...) PRINTF(2, 3);

/* A panic is being printed: a fault now is told and ends it. */
bool panicking(void);

/* Print the call chain that starts at frame pointer `ebp`, with function names. */
void backtrace(uint32_t ebp);

/* Name of the function that holds `addr`, and the offset in it; NULL if none. */
const char *symbol_find(uint32_t addr, uint32_t *offset);

/* Always on; `cond` has no side effects. `label` is the invariant's number in
 * docs/invariants.md ("frame.1") or a few words. */
#define KASSERT(cond, label)						\
	((cond) ? (void)0						\
		: panic("INV %s: %s  [%s:%d %s]", label, #cond,	\
			__FILE__, __LINE__, __func__))

/* The same with two figures to print. */
#define KASSERT2(cond, label, a, b)					\
	((cond) ? (void)0						\
		: panic("INV %s: %s: %#x, %#x  [%s:%d %s]", label, #cond, \
			(unsigned)(a), (unsigned)(b),			\
			__FILE__, __LINE__, __func__))

#endif
