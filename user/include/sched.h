/* newlib's, with the one scheduling call that there is. */
#ifndef _CLOCKHAND_SCHED_H
#define _CLOCKHAND_SCHED_H

#include_next <sched.h>

int sched_yield(void);

#endif
