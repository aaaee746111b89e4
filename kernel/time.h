/*
 * Time. One clock, clock_ns(), for timers, accounting and figures.
 *
 * Outside the lab it is the TSC where there is one (calibrated against the PIT
 * at boot), else the PIT's ticks and its latched count. In the lab (lab=1) it is
 * the TSC, one nanosecond a count, less what was spent inside the disk recipe:
 * see docs/formats.md, "The lab clock".
 */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include "kernel/list.h"
#include "kernel/types.h"

enum { HZ = 100 };			/* ticks a second */

struct timer {
	struct list link;		/* RANK_TIMER; on no list: not set */
	ns_t	    deadline;
	void	  (*fire)(struct timer *t);	/* interrupt context */
};

void time_init(void);

ns_t clock_ns(void);			/* since boot */
ns_t clock_wall_ns(void);		/* since 1970; starts at epoch= or the RTC */

/* The cheapest clock, for accounting: TSC counts, or ticks without a TSC. */
uint64_t cycles_read(void);
ns_t cycles_to_ns(uint64_t cycles);
extern uint32_t cycles_per_tick;		/* in 1/HZ of a second */

bool lab_mode(void);			/* lab=1 */
/* Everything between the two calls takes no time on the lab clock. Interrupts
 * are off. lab_recipe_begin() leaves no timer armed, lab_recipe_end() arms the
 * next one. Only the IDE driver calls them. */
void lab_recipe_begin(void);
void lab_recipe_end(void);

void timer_init(struct timer *t, void (*fire)(struct timer *));
void timer_set(struct timer *t, ns_t deadline);	/* moves it if it was set */
void timer_cancel(struct timer *t);		/* harmless if it was not */

/* Busy waiting for devices before and outside threads; microseconds at least. */
void delay_us(uint32_t us);

/* A number drawn from seed= for one purpose, by its name; random_u32() goes on as it would. */
uint32_t random_of(const char *purpose);
/* A deterministic generator seeded by seed=; the only randomness in the kernel. */
uint32_t random_u32(void);

#endif
