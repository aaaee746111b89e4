/* Counting events; the list is kernel/counters.def. */
#ifndef KERNEL_COUNTERS_H
#define KERNEL_COUNTERS_H

#include "kernel/types.h"

enum counter {
#define X(name) COUNT_##name,
#include "kernel/counters.def"
#undef X
	COUNTER_COUNT
};

extern uint64_t counters[COUNTER_COUNT];
extern const char *const counter_names[COUNTER_COUNT];

#define COUNT(name)		(counters[COUNT_##name]++)
#define COUNT_ADD(name, n)	(counters[COUNT_##name] += (n))

/* Write all counters to the report as "@counter NAME VALUE", then such gauges as
 * free_pages and rmap_bytes in the same form. */
void counters_report(void);

#endif
