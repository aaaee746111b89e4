/*
 * The timer interrupt: shared by kernel/time.c (the clock), kernel/timer.c (pending
 * timers, PIT channel 0) and kernel/sched.c (slices).
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include "kernel/types.h"

enum { TICK_COUNTS = 11932 };		/* PIT counts of a tick: PIT_HZ / HZ, rounded */

/* Lab: the time that PIT channel 0 is armed for; whoever needs it earlier calls
 * timer_rearm(). 0 when nobody must: outside the lab, in the interrupt, in the recipe. */
extern ns_t timer_armed_until;

/* Ticks since timer_start(); only the periodic mode counts them. */
extern uint64_t timer_ticks;

/* The clock is the PIT's ticks: no TSC, or not yet. */
bool clock_is_ticks(void);

/* Register IRQ 0 and set the PIT going: one_shot in the lab, else HZ ticks a second. */
void timer_start(bool one_shot);
/* Lab: arm the PIT for the next due timer or slice end, 50 ms at most. */
void timer_rearm(void);
/* Lab: leave nothing armed and no timer interrupt pending. Interrupts are off and are
 * opened meanwhile. timer_resume() ends it. */
void timer_suspend(void);
void timer_resume(void);

#endif
