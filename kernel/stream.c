/*
 * Trace records to the host: trace.stream=EVENT,EVENT,... writes those events' records to port
 * 0xE9 as they are made (docs/formats.md, "Streamed records"). They are short, because each byte
 * is a call of the emulator. In the lab they cost no time: kernel/aside.h.
 */
#include "kernel/stream.h"
#include "kernel/console.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/swap/map.h"

enum { LIST_BYTES = 256, LINE_BYTES = 96 };

PARAM_LIST(wanted_names, "trace.stream", LIST_BYTES);

uint8_t trace_plain[TRACE_EVENT_COUNT];		/* see clock_aside() */
static bool wanted[TRACE_EVENT_COUNT];
static ns_t last;				/* the time of the last line */

/* The event called name[0, n), or TRACE_EVENT_COUNT. */
static unsigned event_find(const char *name, size_t n)
{
	unsigned e = 0;

	while (e < TRACE_EVENT_COUNT && (strlen(trace_event_name(e)) != n ||
					 strncmp(trace_event_name(e), name, n) != 0))
		e++;
	return e;
}

static void want(const char *name, size_t n)
{
	unsigned e = event_find(name, n);

	if (e == TRACE_EVENT_COUNT) {
		printk("param: trace.stream: no event is called %.*s; it is left out\n", (int)n, name);
		return;
	}
	wanted[e] = true;
	report("@stream %x %s", e, trace_event_name(e));
	for (unsigned i = 0; i < TRACE_FIELDS; i++)
		if (trace_field_name(e, i)[0] != '\0')
			report(" %s", trace_field_name(e, i));
	report("\n");
}

void stream_init(void)
{
	const char *name = wanted_names;

	while (*name != '\0') {
		size_t n = 0;

		while (name[n] != '\0' && name[n] != ',')
			n++;
		if (n != 0)
			want(name, n);
		name += n + (name[n] == ',');
	}
}

void stream_settle(bool clock_is_tsc)
{
	for (unsigned e = 0; e < TRACE_EVENT_COUNT; e++)
		trace_plain[e] = clock_is_tsc && !wanted[e];
	if (swap_map_at_oom())
		trace_plain[TRACE_OOM] = false;
}

/* " " and v in hexadecimal behind line[at]. Returns where that ends. */
static unsigned put_hex(char *line, unsigned at, uint64_t v)
{
	unsigned digits = 1;

	while (digits < 16 && v >> (4 * digits) != 0)
		digits++;
	line[at++] = ' ';
	while (digits-- > 0)
		line[at++] = "0123456789abcdef"[v >> (4 * digits) & 15];
	return at;
}

void stream_record(const struct trace_record *r, uint64_t now)
{
	const uint32_t value[TRACE_FIELDS] = { r->a, r->b, r->c };
	unsigned e = r->number - 1u, at;
	char line[LINE_BYTES] = "@";
	ns_t t;

	if (!wanted[e])
		return;
	t = cycles_to_ns(now);
	at = put_hex(line, 1, e);
	line[1] = '=';
	at = put_hex(line, at, t - last);
	last = t;
	at = put_hex(line, at, r->tid);
	for (unsigned i = 0; i < TRACE_FIELDS; i++)
		if (trace_field_name(e, i)[0] != '\0')
			at = put_hex(line, at, value[i]);
	line[at++] = '\n';
	console_report(line, at);
}
