/* Writing to the trace ring. Part of kernel/trace.h; the rest is kernel/trace.c. */
#ifndef KERNEL_TRACE_RING_H
#define KERNEL_TRACE_RING_H

#include "kernel/aside.h"
#include "kernel/thread.h"
#include "kernel/timer.h"

extern struct trace_record *trace_ring;
extern uint32_t trace_ring_mask;	/* trace.1: the bytes of the ring less 1 */
extern uint32_t trace_ring_next;	/* bytes ever written, modulo 2^32 */
extern uint8_t trace_plain[];		/* kernel/stream.c: by event, for clock_aside() */

static inline struct trace_record *trace_ring_at(uint32_t at)
{
	return (struct trace_record *)((char *)trace_ring + (at & trace_ring_mask));
}

/* Record one event: see TRACE(). Returns its time. Interrupts that come between the two steps
 * write records of their own. */
static inline uint64_t trace_write(enum trace_event event, uint32_t a, uint32_t b,
					  uint32_t c)
{
	uint32_t at = __atomic_fetch_add(&trace_ring_next, sizeof(struct trace_record),
					 __ATOMIC_RELAXED);
	struct trace_record *r = trace_ring_at(at);
	uint64_t now;

	r->number = (uint16_t)(event + 1);
	r->tid = current->tid;
	r->a = a;
	r->b = b;
	r->c = c;
	now = clock_aside(&trace_plain[event], r);
	r->time = now;
	return now;
}

#endif
