/* For host programs that have no threads but their own. Included by one program once. */
#ifndef NO_THREADS_H
#define NO_THREADS_H

#include "kernel/thread.h"

struct thread *thread_create(struct task *task, const char *name, void (*fn)(void *arg), void *arg,
			     enum thread_priority priority)
{
	(void)task; (void)name; (void)fn; (void)arg; (void)priority;
	return NULL;
}

#endif
