/* Address spaces under construction: what exec builds before it is swapped in. */
#ifndef KERNEL_SPACE_H
#define KERNEL_SPACE_H

#include "kernel/handle.h"
#include "kernel/types.h"

struct mm;

struct space {
	struct kobject kobject;		/* first */
	struct mm     *mm;		/* NULL once a task has taken it */
	struct list    dead_link;
};

/* The space that is handle `h`, with a reference. NULL and *err = -EBADF otherwise. Who
 * takes its mm sets `mm` to NULL. */
struct space *space_get(struct handle_table *t, int h, int *err);
/* Destroy the address spaces whose last handle is gone. A kobject's destroy may not
 * sleep, so it only queues them. Sleeps; call it where handles were closed. */
void space_collect(void);

#endif
