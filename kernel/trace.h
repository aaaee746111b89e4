/* The always-on trace ring: what the machine did last, with fields. */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

#include "kernel/types.h"

enum trace_event {
#define X(event, a, b, c) TRACE_##event,
#include "kernel/trace.def"
#undef X
	TRACE_EVENT_COUNT
};
enum { TRACE_FIELDS = 3 };

struct trace_record {
	uint64_t time;			/* cycles_read(); nanoseconds in the lab */
	uint16_t number;		/* enum trace_event + 1; 0: never written */
	uint16_t tid;
	uint32_t a, b, c;
	uint32_t unused[2];		/* 32 bytes: the place of a record is one AND away */
};
_Static_assert(sizeof(struct trace_record) == 32, "trace.1");

#include "kernel/trace_ring.h"

/* Record one event. A few stores; any context; never fails. */
#define TRACE(event, a, b, c)						\
	trace_write(TRACE_##event, (uint32_t)(a), (uint32_t)(b), (uint32_t)(c))

/* Print the newest `count` records, oldest first. */
void trace_dump(unsigned count);

/* Write the whole ring to the report as "@trace TIME EVENT field=value ...". */
void trace_report(void);

/* Of an enum trace_event; a field that isn't used is called "". */
const char *trace_event_name(unsigned event);
const char *trace_field_name(unsigned event, unsigned field);

/* Allocate the ring (trace.entries=N); events before it go to a small static one. */
void trace_init(void);

#endif
