/* Commands about memory and swap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <clockhand.h>
#include "user/bin/box.h"

enum { KIB_PER_PAGE = 4, TEXT_BYTES = 8192, SWAPS_MAX = 32, LINES_PER_HEADER = 20 };

int box_free(int argc, char **argv)
{
	struct abi_memory m;

	(void)argc, (void)argv;
	if (box_sysinfo(SYSINFO_MEMORY, &m, sizeof(m)) < 0)
		return 1;
	puts("          total       used       free       anon    objects  swapcache");
	printf("Mem:   %8u   %8u   %8u   %8u   %8u   %8u\n", (unsigned)m.total * KIB_PER_PAGE,
	       (unsigned)(m.total - m.free) * KIB_PER_PAGE, (unsigned)m.free * KIB_PER_PAGE,
	       (unsigned)m.anon_mapped * KIB_PER_PAGE, (unsigned)m.objects * KIB_PER_PAGE,
	       (unsigned)m.swap_cached * KIB_PER_PAGE);
	printf("Swap:  %8u   %8u   %8u\n", (unsigned)m.swap_total * KIB_PER_PAGE,
	       (unsigned)(m.swap_total - m.swap_free) * KIB_PER_PAGE,
	       (unsigned)m.swap_free * KIB_PER_PAGE);
	return 0;
}

/* What became of the looks into the swap cache, in the words of the time (docs/history.md 1.9). */
static int swap_cache_print(void)
{
	static char text[TEXT_BYTES];
	int n = box_sysinfo(SYSINFO_COUNTERS, text, sizeof(text) - 1);

	if (n < 0)
		return 1;
	text[n] = '\0';
	printf("Swap cache: add %u, delete %u, find %u/%u\n",
	       (unsigned)counter_find(text, "swap_cache_add"),
	       (unsigned)counter_find(text, "swap_cache_delete"),
	       (unsigned)counter_find(text, "swap_cache_find_success"),
	       (unsigned)counter_find(text, "swap_cache_find_total"));
	return 0;
}

static int swaps_print(void)
{
	struct abi_swap_row rows[SWAPS_MAX];
	int n = box_sysinfo(SYSINFO_SWAPS, rows, sizeof(rows));

	if (n < 0)
		return 1;
	puts("Filename\tType\t\tSize\tUsed\tPriority");
	for (unsigned i = 0; i < (unsigned)n / sizeof(rows[0]); i++)
		printf("%s\t\tpartition\t%u\t%u\t%d\n", rows[i].name,
		       (unsigned)rows[i].slots * KIB_PER_PAGE,
		       (unsigned)rows[i].used * KIB_PER_PAGE, (int)rows[i].priority);
	return swap_cache_print();
}

int box_swapon(int argc, char **argv)
{
	int error, priority = -1;

	if (argc == 2 && strcmp(argv[1], "-s") == 0)
		return swaps_print();
	if (argc == 4 && strcmp(argv[1], "-p") == 0) {
		priority = atoi(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc != 2)
		return box_usage("-s | [-p PRIORITY] DISK");
	error = sys_swapon(argv[1], priority);
	return error < 0 ? box_error(argv[1], -error) : 0;
}

int box_swapoff(int argc, char **argv)
{
	int error;

	if (argc != 2)
		return box_usage("DISK");
	error = sys_swapoff(argv[1]);
	return error < 0 ? box_error(argv[1], -error) : 0;
}

/* What one line of vmstat is made of: sums since boot, and gauges. */
struct sample {
	struct abi_cpu cpu;
	struct abi_memory memory;
	uint64_t swap_in, swap_out;	/* pages */
	uint64_t read, written;		/* KiB */
};

static int sample_take(struct sample *s)
{
	static char text[TEXT_BYTES];
	int n = box_sysinfo(SYSINFO_COUNTERS, text, sizeof(text) - 1);

	if (n < 0 || box_sysinfo(SYSINFO_CPU, &s->cpu, sizeof(s->cpu)) < 0 ||
	    box_sysinfo(SYSINFO_MEMORY, &s->memory, sizeof(s->memory)) < 0)
		return -1;
	text[n] = '\0';
	s->swap_in = counter_find(text, "pswpin");
	s->swap_out = counter_find(text, "pswpout");
	s->read = counter_find(text, "pgpgin");
	s->written = counter_find(text, "pgpgout");
	return 0;
}

/* `amount` within `ns` nanoseconds, as a rate per second, rounded. */
static unsigned rate(uint64_t amount, uint64_t ns)
{
	uint64_t ms = ns / 1000000u ? ns / 1000000u : 1;

	return (unsigned)((amount * 1000 + ms / 2) / ms);
}

static unsigned percent(uint64_t part, uint64_t all)
{
	return all ? (unsigned)((part * 100 + all / 2) / all) : 0;
}

/* One line: gauges of `b`, and what happened from `a` to `b`. kswapd's time is the
 * system's; waiting for a disk counts as idle, as it did then. */
static void sample_print(const struct sample *a, const struct sample *b)
{
	const struct abi_memory *m = &b->memory;
	uint64_t ns = b->cpu.uptime_ns - a->cpu.uptime_ns;
	uint64_t system = b->cpu.system_ns + b->cpu.kswapd_ns - a->cpu.system_ns - a->cpu.kswapd_ns;
	unsigned us = percent(b->cpu.user_ns - a->cpu.user_ns, ns), sy = percent(system, ns);

	printf("%2u %2u %2u %6u %6u %6u %6u", (unsigned)b->cpu.runnable, (unsigned)b->cpu.blocked,
	       0u, (unsigned)(m->swap_total - m->swap_free) * KIB_PER_PAGE,
	       (unsigned)m->free * KIB_PER_PAGE, 0u, (unsigned)m->objects * KIB_PER_PAGE);
	printf(" %3u %3u %5u %5u %4u %5u %3u %3u %3u\n",
	       rate((b->swap_in - a->swap_in) * KIB_PER_PAGE, ns),
	       rate((b->swap_out - a->swap_out) * KIB_PER_PAGE, ns),
	       rate(b->read - a->read, ns), rate(b->written - a->written, ns),
	       rate(b->cpu.interrupts - a->cpu.interrupts, ns),
	       rate(b->cpu.context_switches - a->cpu.context_switches, ns),
	       us, sy, us + sy < 100 ? 100 - us - sy : 0);
	fflush(stdout);
}

int box_vmstat(int argc, char **argv)
{
	static struct sample samples[2];	/* the first line is since boot: all 0 */
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	int count = argc > 2 ? atoi(argv[2]) : seconds ? 0 : 1;

	if (argc > 3 || seconds < 0 || count < 0 || (argc > 1 && seconds == 0))
		return box_usage("[SECONDS [COUNT]]");
	for (int i = 0; count == 0 || i < count; i++) {
		struct sample *now = &samples[(i + 1) % 2];

		if (i > 0)
			sleep((unsigned)seconds);
		if (sample_take(now) < 0)
			return 1;
		if (i % LINES_PER_HEADER == 0)
			puts("   procs                      memory    swap          io     system"
			     "         cpu\n r  b  w   swpd   free   buff  cache  si  so    bi    bo"
			     "   in    cs  us  sy  id");
		sample_print(&samples[i % 2], now);
	}
	return 0;
}
