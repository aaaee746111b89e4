/*
 * The OOM rules of Linux against their table (docs/history.md 7.2), boundary by boundary: a
 * clock, slots, zones and caches that the test sets, and who is asked again and again.
 * links: mm/oom/badness.c mm/oom/linux24*.c mm/oom/linux26.c mm/frame.c mm/page.c mm/slab.c mm/lru.c
 */
#include "kernel/isqrt.h"
#include "kernel/task.h"
#include "mm/frame.h"
#include "mm/object.h"
#include "mm/oom/rules.h"
#include "mm/swap.h"
#include "shim.h"

enum { RAM_BYTES = 40 << 20 };

#define SECOND	 NS_PER_SECOND
#define LONG_AGO (100 * SECOND)

/* ---- The machine that the rules ask about ---- */

static struct { ns_t now; uint32_t slots, cached, objects, vm; ns_t cpu; } m;

ns_t clock_ns(void) { return m.now; }
uint32_t swap_slots_free(void) { return m.slots; }
uint32_t swap_cached_pages(void) { return m.cached; }
uint32_t objects_memory_frames(void) { return m.objects; }
void task_usage(const struct task *t, struct abi_usage *u)
{
	(void)t;
	u->user_ns = m.cpu / 2;
	u->system_ns = m.cpu - m.cpu / 2;
}
struct oom_figures oom_figures(const struct task *t)
{
	(void)t;
	return (struct oom_figures){ .rss = 1, .vm = m.vm };
}

/* ---- Asking ---- */

/* A rule remembers: long after whatever was before, one question begins a new row. */
static void begin(const struct oom_rule *r)
{
	m.slots = 0;
	m.now += LONG_AGO;
	CHECK(!r->is_oom(0));
}

/* Ask `times`, `gap` between two: which question was answered by yes? 0: none. */
static unsigned ask(const struct oom_rule *r, unsigned times, ns_t gap)
{
	for (unsigned i = 1; i <= times; i++) {
		m.now += gap;
		if (r->is_oom(0))
			return i;
	}
	return 0;
}

/* ---- Rules ---- */

static void zone_set(unsigned z, uint32_t free, uint32_t low)
{
	zones[z].free = free;
	zones[z].low = low;
}

static void test_2413(void)
{
	const struct oom_rule *r = &oom_linux2413;

	CHECK(r->askers == OOM_ASKS_KSWAPD);
	zone_set(ZONE_DMA, 40, 40);
	zone_set(ZONE_NORMAL, 60, 60);
	CHECK(r->is_oom(0) && r->is_oom(0));		/* at once, and again */
	for (unsigned z = 0; z < ZONE_COUNT; z++) {
		zones[z].free++;
		CHECK(!r->is_oom(0));
		zones[z].free--;
	}
	m.slots = 1;
	CHECK(!r->is_oom(0));
	m.slots = 0;
	m.cached = frames_total() / 100 * 2;		/* 2 % */
	CHECK(r->is_oom(0));
	m.objects = 1;
	CHECK(!r->is_oom(0));
	m.cached = m.objects = 0;
	tap_checks("host-oom-01", "2.4.13: each zone at low, no slot, cache at 2 %; one more of any of them saves");
}

static void test_pre6(void)
{
	const struct oom_rule *r = &oom_linux2414pre6;

	begin(r);
	CHECK(ask(r, 300, SECOND / 50) == 100);
	CHECK(ask(r, 300, SECOND / 50) == 100);		/* a kill begins anew */
	tap_checks("host-oom-02", "2.4.14-pre6: 99 failures aren't enough, 100 are");
	begin(r);
	CHECK(ask(r, 300, SECOND / 200) == 200);	/* 100 after half a second: too soon */
	begin(r);
	CHECK(ask(r, 100, SECOND) == 100);
	begin(r);
	CHECK(ask(r, 300, SECOND + 1) == 0);
	begin(r);
	CHECK(ask(r, 99, SECOND) == 0 && ask(r, 1, SECOND + 1) == 0 && ask(r, 300, SECOND) == 100);
	tap_checks("host-oom-03", "they last for a second at least, with gaps of a second at most");
	begin(r);
	m.slots = 1;
	CHECK(ask(r, 500, SECOND / 50) == 0);
	m.slots = 0;
	CHECK(ask(r, 1, SECOND / 50) == 1);		/* failures with slots were counted */
	begin(r);
	m.slots = 1;
	m.cached = frames_total();
	m.slots = 0;
	CHECK(ask(r, 300, SECOND / 50) == 100);		/* a full cache saves nobody */
	m.cached = 0;
	tap_checks("host-oom-04", "a free slot saves at that moment, what is cached never");
}

/* What 2.4.14 and 2.6 share; first is the number of the first test. */
static void test_final(const struct oom_rule *r, const char *const names[3])
{
	begin(r);
	CHECK(ask(r, 300, SECOND / 10) == 10 + 9);	/* 0.1 ... 0.9 s: not counted */
	begin(r);
	CHECK(ask(r, 300, 5 * SECOND) == 10);
	begin(r);
	CHECK(ask(r, 1, SECOND - 1) == 0 && ask(r, 30, 1) == 10);
	tap_checks(names[0], "a second of failures, then ten more");
	begin(r);
	CHECK(ask(r, 300, 5 * SECOND + 1) == 0);
	begin(r);
	CHECK(ask(r, 9, 5 * SECOND) == 0 && ask(r, 1, 5 * SECOND + 1) == 0);
	CHECK(ask(r, 30, SECOND / 2) == 11);		/* ... and that began a new row */
	tap_checks(names[1], "with gaps of five seconds at most");
	begin(r);
	CHECK(ask(r, 9, SECOND) == 0);
	m.slots = 1;
	CHECK(ask(r, 4, SECOND) == 0);
	m.slots = 0;
	CHECK(ask(r, 1, SECOND) == 1);			/* 5 s since the last without a slot */
	begin(r);
	CHECK(ask(r, 9, SECOND) == 0);
	m.slots = 1;
	CHECK(ask(r, 5, SECOND) == 0);
	m.slots = 0;
	CHECK(ask(r, 1, SECOND) == 0 && ask(r, 30, SECOND) == 10);
	tap_checks(names[2], "while a slot is free nothing is recorded: the gap goes on growing");
}

static void test_pause(void)
{
	begin(&oom_linux26);
	CHECK(ask(&oom_linux26, 300, SECOND / 10) == 19);
	CHECK(ask(&oom_linux26, 300, SECOND / 10) == 50);	/* ready after 1.9 s, waits till 5 */
	begin(&oom_linux2414);
	CHECK(ask(&oom_linux2414, 300, SECOND / 10) == 19);
	CHECK(ask(&oom_linux2414, 300, SECOND / 10) == 19);
	CHECK(oom_linux26.askers == OOM_ASKS_ALLOC);
	CHECK(oom_linux2414.askers == (OOM_ASKS_ALLOC | OOM_ASKS_KSWAPD));
	tap_checks("host-oom-11", "2.6 kills once in five seconds, 2.4.14 as often as its row is full");
}

/* ---- Badness ---- */

#define TICK (10 * NS_PER_MS)

static void test_badness(void)
{
	struct task t = { .pid = 7, .start = 0 };

	m.now = m.cpu = 0;
	m.vm = 1000;
	CHECK(linux24_badness(&t) == 1000 && linux26_badness(&t) == 1000);
	m.cpu = 4 * 1024 * TICK - 1;
	CHECK(linux24_badness(&t) == 1000);
	m.cpu = 4 * 1024 * TICK;		/* 41 s: a half */
	CHECK(linux24_badness(&t) == 500);
	m.cpu = 9 * 8192 * NS_PER_MS;
	CHECK(linux26_badness(&t) == 333);
	m.cpu = 0;
	m.now = 16 * 131072 * TICK - 1;
	CHECK(linux24_badness(&t) == 1000);
	m.now = 16 * 131072 * TICK;		/* 5.8 hours: a half */
	CHECK(linux24_badness(&t) == 500);
	m.now = 81 * 1048576ull * NS_PER_MS;
	CHECK(linux26_badness(&t) == 333);
	m.now = 0;
	tap_checks("host-oom-12", "badness: what is mapped, by the root of CPU time and the fourth root of age");
	t.flags = TASK_SERVER;
	CHECK(linux24_badness(&t) == 0 && linux26_badness(&t) == 0);
	t.flags = TASK_PROC;
	CHECK(linux24_badness(&t) == 0);
	t.flags = 0;
	t.pid = 1;
	CHECK(linux24_badness(&t) == 0 && linux26_badness(&t) == 0);
	tap_checks("host-oom-13", "servers, proc and init are never chosen");
	for (uint32_t n = 0; n < 70000; n++)
		CHECK(isqrt(n) * isqrt(n) <= n && (isqrt(n) + 1) * (isqrt(n) + 1) > n);
	CHECK(isqrt(UINT32_MAX) == 65535);
	tap_checks("host-oom-14", "the integer root");
}

int main(void)
{
	static const char *const of_2414[3] = { "host-oom-05", "host-oom-06", "host-oom-07" };
	static const char *const of_26[3] = { "host-oom-08", "host-oom-09", "host-oom-10" };

	shim_machine(RAM_BYTES);
	test_2413();
	test_pre6();
	test_final(&oom_linux2414, of_2414);
	test_final(&oom_linux26, of_26);
	test_pause();
	test_badness();
	return tap_done();
}
