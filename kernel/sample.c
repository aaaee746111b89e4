/*
 * Moments at which the host is told something: samples, and maps of swap (mm/swap/map.h).
 *
 * Figures over time: each sample.ms=N ms of clock, at the first timer interrupt from then on, a line
 * "@sample NANOSECONDS name=value ..." goes to port 0xE9 (docs/formats.md). All is read without
 * locks but the scheduler's. In the lab it costs no time: kernel/aside.h.
 */
#include "kernel/sample.h"
#include "kernel/aside.h"
#include "kernel/console.h"
#include "kernel/counters.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "mm/frame.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "mm/swap/map.h"

PARAM_U32(sample_ms, "sample.ms", 0, 0, 3600000);

enum { LINE_BYTES = 1024 };

#define NEVER (1ull << 62)

static ns_t sample_due = NEVER, map_due = NEVER;
static ns_t next_due = NEVER;		/* the earlier of the two */
static bool at_end;

static const struct { const char *name; enum counter counter; } columns[] = {
#define C(name) { #name, COUNT_##name }
	C(pswpin), C(pswpout), C(pgmajfault), C(pgfault), C(pgscan_kswapd), C(pgscan_direct),
	C(pgsteal_kswapd), C(pgsteal_direct), C(allocstall), C(swap_cache_find_success),
	C(swap_cache_find_total), C(context_switches), C(interrupts),
#undef C
};

void sample_init(void)
{
	if (sample_ms != 0)
		sample_due = 0;
	map_due = swap_map_due(0, NEVER);
	next_due = MIN(sample_due, map_due);
}

/* " name=value" for each gauge and counter, behind line[at]. Returns where that ends. */
static int put_figures(char *line, int at)
{
	uint32_t active = 0, inactive = 0;

	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		active += zones[i].active_count;
		inactive += zones[i].inactive_count;
	}
	at += ksnprintf(line + at, (size_t)(LINE_BYTES - at),
			" free=%u swap_used=%u swap_cached=%u active=%u inactive=%u",
			frames_free(), swap_slots_total() - swap_slots_free(),
			swap_cached_pages(), active, inactive);
	for (unsigned i = 0; i < ARRAY_LEN(columns); i++)
		at += ksnprintf(line + at, (size_t)(LINE_BYTES - at), " %s=%llu", columns[i].name,
				(unsigned long long)counters[columns[i].counter]);
	return at;
}

/* The same for the times. Those in the report, in its words. */
static int put_times(char *line, int at)
{
	ns_t kswapd = kswapd_time_ns();

	return at + ksnprintf(line + at, (size_t)(LINE_BYTES - at),
			      " user_ns=%llu system_ns=%llu kswapd_ns=%llu idle_ns=%llu\n",
			      (unsigned long long)cpu_time_ns(CPU_USER),
			      (unsigned long long)(cpu_time_ns(CPU_SYSTEM) - kswapd),
			      (unsigned long long)kswapd, (unsigned long long)idle_time_ns());
}

/* One sample; the next one is due at the next multiple of sample.ms. */
static void sample_write(ns_t now)
{
	static char line[LINE_BYTES];
	ns_t every = sample_ms * NS_PER_MS;
	int at = ksnprintf(line, sizeof(line), "@sample %llu", (unsigned long long)now);

	at = put_times(line, put_figures(line, at));
	console_report(line, (size_t)at);
	sample_due = (now / every + 1) * every;
}

void sample_moment(void)
{
	ns_t now = clock_ns();

	if (now >= sample_due || at_end)
		sample_write(now);
	if (now >= map_due && swap_map_write("time"))
		map_due = swap_map_due(now, NEVER);
	next_due = MIN(sample_due, map_due);
}

/* The test is a sign, which takes the same instructions whether something is due or not. */
void sample_look(ns_t now)
{
	static uint8_t early;

	early = (uint8_t)((now - next_due) >> 63);
	clock_aside(&early, NULL);
}

void sample_report(void)
{
	static uint8_t off;

	at_end = true;
	off = sample_ms == 0;
	clock_aside(&off, NULL);
}
