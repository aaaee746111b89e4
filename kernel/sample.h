/* What the host is told at certain moments: sample.ms=N, swap.map=SECONDS. */
#ifndef KERNEL_SAMPLE_H
#define KERNEL_SAMPLE_H

#include "kernel/types.h"

/* Read the parameters. Before the clock runs. */
void sample_init(void);
/* Say what is due. The timer's interrupt calls it, in the lab at least each 50 ms. */
void sample_look(ns_t now);
/* For the aside that sample_look() makes. */
void sample_moment(void);
/* The last one, for the report: its figures are the report's. Nothing without sample.ms. */
void sample_report(void);

#endif
