/* A time limit that the machine sets itself (watchdog.ms=N). */
#ifndef KERNEL_WATCHDOG_H
#define KERNEL_WATCHDOG_H

#include "kernel/time.h"

/* Is it over? From the timer's interrupt; `now` is clock_ns(). */
void watchdog_look(ns_t now);

#endif
