/* newlib's, with what it declares for other systems only. */
#ifndef _CLOCKHAND_UNISTD_H
#define _CLOCKHAND_UNISTD_H

#include_next <unistd.h>

int brk(void *end);

#endif
