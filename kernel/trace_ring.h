/* Writing to the trace ring. Part of kernel/trace.h; the rest is kernel/trace.c. */
#ifndef KERNEL_TRACE_RING_H
#define KERNEL_TRACE_RING_H

#include "kernel/thread.h"
#include "kernel/timer.h"

extern struct trace_record *trace_ring;
extern uint32_t trace_ring_mask;	/* trace.1: the length less 1 */
extern uint32_t trace_ring_next;	/* records ever written */

/* Record one event: see TRACE(). Interrupts that come between the two steps write
 * records of their own. */
static inline void trace_write(enum trace_event event, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t n = __atomic_fetch_add(&trace_ring_next, 1, __ATOMIC_RELAXED);
	struct trace_record *r = &trace_ring[n & trace_ring_mask];

	r->time = cycles_now();
	r->event = (uint16_t)event;
	r->tid = current->tid;
	r->a = a;
	r->b = b;
	r->c = c;
}

#endif
