/* Trace records that go to the host as they are made: trace.stream=EVENT,EVENT,... */
#ifndef KERNEL_STREAM_H
#define KERNEL_STREAM_H

#include "kernel/types.h"

struct trace_record;

/* Read the parameter; names that no event has are refused in words. Before the clock runs. */
void stream_init(void);
/* Decide anew which events are recorded in the plain way: all that nobody wants, while the
 * clock is the TSC. */
void stream_settle(bool clock_is_tsc);
/* Write the record, whose time is `now` and not yet in it, if its event is wanted. */
void stream_record(const struct trace_record *r, uint64_t now);

#endif
