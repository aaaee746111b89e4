/*
 * The timer interrupt: shared by kernel/time.c (the clock), kernel/timer.c (pending
 * timers, PIT channel 0) and kernel/sched.c (slices).
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include "kernel/cpu.h"
#include "kernel/time.h"
#include "kernel/types.h"

enum { TICK_COUNTS = 11932 };		/* PIT counts of a tick: PIT_HZ / HZ, rounded */

/* One-shot mode: the time that PIT channel 0 is armed for; whoever needs it earlier calls
 * timer_rearm(). 0 when nobody must: with HZ ticks a second, in the interrupt, in the recipe. */
extern ns_t timer_armed_until;

/* Ticks since timer_start(); only the periodic mode counts them. */
extern uint64_t timer_ticks;

/* What cycles_read() counts. NONE and TICKS: the PIT's ticks, before and after there are
 * any. FROZEN: nothing, inside the lab's disk recipe. */
enum clock_source { CLOCK_NONE, CLOCK_TICKS, CLOCK_TSC, CLOCK_FROZEN };
extern enum clock_source clock_source;
extern uint64_t tsc_base;		/* the TSC at clock 0, plus time in the recipe, less skips */

static inline bool clock_is_ticks(void)
{
	return clock_source <= CLOCK_TICKS;
}

/* cycles_read() without a call where it counts most, at each entry and switch. */
static inline uint64_t cycles_now(void)
{
	return clock_source == CLOCK_TSC ? rdtsc() - tsc_base : cycles_read();
}

/* Register IRQ 0 and set the PIT going: one_shot in the lab, else HZ ticks a second. */
void timer_start(bool one_shot);
/* One-shot mode from now on, so that timers are exact to some microseconds; without a TSC
 * they stay at 1/HZ of a second. */
void timer_be_exact(void);
/* One-shot mode: arm the PIT for the next due timer or slice end, 50 ms at most. */
void timer_rearm(void);
/* Lab: leave nothing armed and no timer interrupt pending. Interrupts are off and are
 * opened meanwhile. timer_resume() ends it. */
void timer_suspend(void);
void timer_resume(void);

/* Lab, no thread is READY: put the clock forward to the first timer that is set, fire what
 * is due and arm the PIT. False, and nothing happened: no timer is set, or this isn't the
 * lab. Interrupts off, no spinlock held. */
bool timer_skip_idle(void);
/* Lab: the clock says `ns` from now on, unless it is past that. The PIT must be armed
 * anew afterwards. Interrupts off. Only timer_skip_idle() calls it. */
void lab_clock_skip(ns_t ns);
/* Lab: the clock stands at `now`; it goes on where it stood, `stolen` counts of the TSC
 * later. Only kernel/aside.c calls them. */
void lab_clock_stop(uint64_t now);
void lab_clock_go(uint64_t stolen);

#endif
