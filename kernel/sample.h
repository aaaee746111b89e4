/* Figures over time, for the host: sample.ms=N. */
#ifndef KERNEL_SAMPLE_H
#define KERNEL_SAMPLE_H

#include "kernel/types.h"

/* Read the parameter. Before the clock runs. */
void sample_init(void);
/* Write a sample if it is time for one. The timer's interrupt calls it, at least each 50 ms. */
void sample_look(ns_t now);
/* Write a sample, and say when the next is due. Any context in which no spinlock of a
 * rank above RANK_IRQ is held. */
void sample_write(void);
/* The last one, for the report: its figures are the report's. Nothing without sample.ms. */
void sample_report(void);

#endif
