/* The counters, and the figures that the report gives in the same form. */
#include "kernel/counters.h"
#include "kernel/printk.h"
#include "kernel/trap.h"
#include "mm/audit.h"
#include "mm/frame.h"
#include "mm/rmap.h"
#include "kernel/abi/sysinfo.h"

uint64_t counters[COUNTER_COUNT];

const char *const counter_names[COUNTER_COUNT] = {
#define X(name) [COUNT_##name] = #name,
#include "kernel/counters.def"
#undef X
};

/* A watermark of all zones. */
static uint32_t sum_of(size_t mark)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < ZONE_COUNT; i++)
		sum += *(const uint32_t *)((const char *)&zones[i] + mark);
	return sum;
}

/* What memory is used for at the end of the run, in pages. */
static void memory_report(void)
{
	struct abi_memory m;

	mm_memory_info(&m);
	report("@counter total_pages %u\n", m.total);
	report("@counter free_pages %u\n", m.free);
	report("@counter active_pages %u\n", m.active);
	report("@counter inactive_pages %u\n", m.inactive);
	report("@counter swap_cached_pages %u\n", m.swap_cached);
	report("@counter page_table_pages %u\n", m.page_tables);
	report("@counter slab_pages %u\n", m.slab);
	report("@counter kernel_stack_pages %u\n", m.kernel_stacks);
	report("@counter swap_total_pages %u\n", m.swap_total);
	report("@counter swap_free_pages %u\n", m.swap_free);
	report("@counter pages_min %u\n", sum_of(offsetof(struct zone, min)));
	report("@counter pages_low %u\n", sum_of(offsetof(struct zone, low)));
	report("@counter pages_high %u\n", sum_of(offsetof(struct zone, high)));
	report("@counter committed_pages %u\n", m.committed);
	report("@counter rmap_bytes %u\n", m.rmap_bytes);
}

void counters_report(void)
{
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		report("@counter %s %llu\n", counter_names[i], (unsigned long long)counters[i]);
	memory_report();
	irq_report();
}
