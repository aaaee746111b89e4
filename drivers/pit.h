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
/* Channel 0: one interrupt, `counts` counts from now (mode 0). Forgets the one before. */
void pit_start_oneshot(uint16_t counts);
/* Channel 0's count as it is now; it runs down from what was loaded. */
uint16_t pit_count(void);
/* The one-shot has run down: nothing is armed. */
bool pit_oneshot_over(void);
/* The interrupt controller has a timer interrupt that the CPU has not taken yet. */
bool pit_irq_pending(void);

/* Channel 2 as a stopwatch, for 65,535 counts (55 ms): set it going; counts since then;
 * true when the time is over and the counts mean nothing. */
void pit_stopwatch_start(void);
uint16_t pit_stopwatch_counts(void);
bool pit_stopwatch_over(void);

#endif
