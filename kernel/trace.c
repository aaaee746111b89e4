/*
 * The trace ring. Writing is a few stores, so it is always on; the time is kept in
 * cycles_read() units and turned into seconds when a record is printed.
 *
 * trace.1  the ring's bytes are a power of two; what was written at n lies at n mod that
 */
#include "kernel/trace.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "mm/slab.h"

enum {
	EARLY_RECORDS = 64,
	DEFAULT_RECORDS = 2048, DEFAULT_RECORDS_SMALL = 256,	/* 64 KiB, 8 KiB */
	SMALL_RAM = 16u << 20,
	LINE_BYTES = 128,
};

PARAM_U32(trace_entries, "trace.entries", 0, 0, 1u << 17);	/* 0: by the size of RAM */
PARAM_U32(trace_in_report, "trace.report", 0, 0, 1);

static struct trace_record early_ring[EARLY_RECORDS];
struct trace_record *trace_ring = early_ring;
uint32_t trace_ring_mask = sizeof(early_ring) - 1;
uint32_t trace_ring_next;

static const struct { const char *name, *field[TRACE_FIELDS]; } events[TRACE_EVENT_COUNT] = {
#define X(event, a, b, c) [TRACE_##event] = { #event, { a, b, c } },
#include "kernel/trace.def"
#undef X
};

const char *trace_event_name(unsigned event)
{
	return events[event].name;
}

const char *trace_field_name(unsigned event, unsigned field)
{
	return events[event].field[field];
}

/* "SECONDS.NANOSECONDS EVENT field=value ..." into line[LINE_BYTES]. */
static void record_text(const struct trace_record *r, char *line)
{
	const uint32_t value[TRACE_FIELDS] = { r->a, r->b, r->c };
	unsigned event = r->number - 1u;
	ns_t t = cycles_to_ns(r->time);
	int at = ksnprintf(line, LINE_BYTES, "%llu.%09u %s tid=%u",
			   (unsigned long long)(t / NS_PER_SECOND),
			   (unsigned)(t % NS_PER_SECOND), events[event].name, r->tid);

	for (unsigned i = 0; i < TRACE_FIELDS; i++)
		if (events[event].field[i][0] != 0 && at < LINE_BYTES)
			at += ksnprintf(line + at, (size_t)(LINE_BYTES - at), " %s=%#x",
					events[event].field[i], value[i]);
}

/* Give fn the text of the newest `count` records, oldest first. */
static void trace_each(uint32_t count, void (*fn)(const char *line))
{
	uint32_t end = trace_ring_next;
	char line[LINE_BYTES];

	count = MIN(count, (trace_ring_mask + 1) / (uint32_t)sizeof(struct trace_record));
	for (; count > 0; count--) {
		struct trace_record *r = trace_ring_at(end - count * sizeof(*r));

		if (r->number == 0)
			continue;
		record_text(r, line);
		fn(line);
	}
}

static void line_to_log(const char *line)
{
	printk("  %s\n", line);
}

static void line_to_report(const char *line)
{
	report("@trace %s\n", line);
}

void trace_dump(unsigned count)
{
	trace_each(count, line_to_log);
}

void trace_report(void)
{
	if (trace_in_report)
		trace_each(UINT32_MAX, line_to_report);
}

/* The largest power of two that is no more than n; n is not 0. */
static uint32_t power_of_two_below(uint32_t n)
{
	while (n & (n - 1))
		n &= n - 1;
	return n;
}

void trace_init(void)
{
	uint32_t length = trace_entries;
	struct trace_record *r;
	uint32_t flags, at;

	if (length == 0)
		length = boot.ram[boot.ram_count - 1].end < SMALL_RAM ?
			DEFAULT_RECORDS_SMALL : DEFAULT_RECORDS;
	length = MAX(power_of_two_below(length), (uint32_t)EARLY_RECORDS);
	r = kmalloc(length * sizeof(*r), GFP_KERNEL);
	if (r == NULL) {
		printk("trace: no memory for %u records; %u it is\n", length, EARLY_RECORDS);
		return;
	}
	memset(r, 0, length * sizeof(*r));
	flags = irq_save();
	at = trace_ring_next;
	for (unsigned i = 0; i < EARLY_RECORDS; i++) {
		at -= sizeof(*r);
		r[at / sizeof(*r) & (length - 1)] = *trace_ring_at(at);
	}
	KASSERT2((length & (length - 1)) == 0, "trace.1", length, 0);
	trace_ring = r;
	trace_ring_mask = length * sizeof(*r) - 1;
	irq_restore(flags);
}
