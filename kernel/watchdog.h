/* A time limit that the machine sets itself (watchdog=SECONDS). */
#ifndef KERNEL_WATCHDOG_H
#define KERNEL_WATCHDOG_H

/* Once at boot, when there are timers. */
void watchdog_start(void);

#endif
