/* The CPU's interrupt flag. */
#ifndef KERNEL_IRQ_FLAG_H
#define KERNEL_IRQ_FLAG_H

#include "kernel/types.h"

enum { FLAGS_IRQS_ON = BIT(9) };		/* EFLAGS.IF */

/* Turn interrupts off; returns what was, for irq_restore(). */
static inline uint32_t irq_save(void)
{
	uint32_t flags;

	__asm__ volatile("pushfl; popl %0; cli" : "=r"(flags) : : "memory");
	return flags;
}

static inline void irq_restore(uint32_t flags)
{
	__asm__ volatile("pushl %0; popfl" : : "ri"(flags) : "memory", "cc");
}

static inline bool irqs_on(void)
{
	uint32_t flags;

	__asm__ volatile("pushfl; popl %0" : "=r"(flags) : : "memory");
	return (flags & FLAGS_IRQS_ON) != 0;
}

/* The same where it is known what was. */
static inline void irq_on(void) { __asm__ volatile("sti" : : : "memory"); }
static inline void irq_off(void) { __asm__ volatile("cli" : : : "memory"); }

#endif
