/*
 * The 8254 interval timer. Channel 0 makes IRQ 0, channel 2 measures a short time at boot.
 * Only kernel/time.c and kernel/timer.c use it.
 */
#ifndef DRIVERS_PIT_H
#define DRIVERS_PIT_H

#include "kernel/types.h"

enum { PIT_HZ = 1193182 };		/* 14.31818 MHz / 12 */

/* Channel 0: an interrupt every `counts` counts (mode 2). */
void pit_start_periodic(uint16_t counts);
/* Channel 0: one interrupt, `counts` counts from now (mode 0). Forgets the one before. Needs
 * a TSC. */
void pit_start_oneshot(uint16_t counts);
/* The last one: what was loaded (0: never), and the TSC one instruction after that. */
struct pit_oneshot {
	uint64_t loaded;
	uint16_t counts;
};
struct pit_oneshot pit_oneshot(void);
/* Channel 0's count as it is now; it runs down from what was loaded. */
uint16_t pit_count(void);
/* The one-shot has run down: nothing is armed. */
bool pit_oneshot_over(void);
/* The interrupt controller has a timer interrupt that the CPU has not taken yet. */
bool pit_irq_pending(void);
/* It is pending: let nobody ever take it. No interrupt is being served. */
void pit_irq_drop(void);

/* Channel 2 as a stopwatch, for 65,535 counts (55 ms): set it going; counts since then;
 * true when the time is over and the counts mean nothing. */
void pit_stopwatch_start(void);
uint16_t pit_stopwatch_counts(void);
bool pit_stopwatch_over(void);

#endif
