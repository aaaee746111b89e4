/* The battery-backed clock of the PC: read once, at boot, for the wall time. */
#ifndef DRIVERS_RTC_H
#define DRIVERS_RTC_H

#include "kernel/types.h"

/* Seconds since 1970 by the clock, taken as UTC; 0 if it can't be read or makes no
 * sense. Waits up to 20 ms while the clock counts on. */
uint64_t rtc_read_seconds(void);

#endif
