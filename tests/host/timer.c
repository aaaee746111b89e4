/*
 * The pending timers against a model: order of firing, ties, moving, cancelling, and in
 * the lab that the PIT is never armed later than what is due.
 * links: kernel/timer.c
 *
 * The machine is a variable: `now` is the clock, `armed_at` the moment at which the
 * one-shot goes off. A timer's place in the array is its number.
 */
#include "drivers/pit.h"
#include "kernel/counters.h"
#include "kernel/sample.h"
#include "kernel/sched.h"
#include "kernel/time.h"
#include "kernel/timer.h"
#include "kernel/trap.h"
#include "kernel/watchdog.h"

#include "alone.h"

enum { TIMERS = 24, STEPS = 20000, SPAN_NS = 200000000 };

uint64_t counters[COUNTER_COUNT];
bool need_resched;
void watchdog_look(ns_t at) { (void)at; }
void sample_look(ns_t at) { (void)at; }

static ns_t now, armed_at, slice_due = UINT64_MAX;
static irq_handler interrupt;
static struct timer timers[TIMERS];
static bool set[TIMERS];		/* the model: set, when, and how many sets before */
static ns_t when[TIMERS];
static unsigned turn[TIMERS], turns, fired_early, fired_wrong, fired;

void spin_lock(struct spinlock *l)
{
	KASSERT(!l->held, "lock.2");
	l->held = true;
}

void spin_unlock(struct spinlock *l)
{
	KASSERT(l->held, "lock.2");
	l->held = false;
}

uint32_t spin_lock_irq(struct spinlock *l)
{
	spin_lock(l);
	return 0;
}

void spin_unlock_irq(struct spinlock *l, uint32_t flags)
{
	(void)flags;
	spin_unlock(l);
}

ns_t clock_ns(void) { return now; }
enum clock_source clock_source = CLOCK_TSC;
bool lab_mode(void) { return true; }
void sched_tick(void) { }
ns_t sched_slice_due(void) { return slice_due; }
void pit_start_periodic(uint16_t counts) { (void)counts; }
bool pit_oneshot_over(void) { return true; }
bool pit_irq_pending(void) { return false; }
void lab_clock_skip(ns_t ns) { now = MAX(now, ns); }

void pit_start_oneshot(uint16_t counts)
{
	KASSERT(counts != 0, "0 would be 65536");
	armed_at = now + counts * NS_PER_SECOND / PIT_HZ;
}

int irq_register(unsigned irq, irq_handler handler, void *arg)
{
	(void)irq;
	(void)arg;
	interrupt = handler;
	return 0;
}

static ns_t model_first(void)
{
	ns_t first = slice_due;

	for (unsigned i = 0; i < TIMERS; i++)
		if (set[i] && when[i] < first)
			first = when[i];
	return first;
}

/* Fired: it must be set, due, and no other may be due before it. */
static void fire(struct timer *t)
{
	unsigned n = (unsigned)(t - timers);

	fired++;
	fired_early += when[n] > now;
	fired_wrong += !set[n];
	for (unsigned i = 0; i < TIMERS; i++)
		fired_wrong += i != n && set[i] &&
			(when[i] < when[n] || (when[i] == when[n] && turn[i] < turn[n]));
	set[n] = false;
}

static void model_set(unsigned n, ns_t deadline)
{
	set[n] = true;
	when[n] = deadline;
	turn[n] = ++turns;
	timer_set(&timers[n], deadline);
}

static unsigned late;

/* Let time go on to `until`, with all interrupts on the way. */
static void run(ns_t until)
{
	while (armed_at <= until) {
		ns_t first = model_first();

		late += armed_at > first + 1000 && armed_at > now + 1000;
		now = armed_at > now ? armed_at : now + 1;
		interrupt(0, NULL);
	}
	now = until;
}

/* Nothing runs: skip from timer to timer until none is set. False: one was missed, or the
 * clock went on where it should not, or the PIT was not armed anew. */
static bool skip_all(void)
{
	bool ok = true;

	slice_due = UINT64_MAX;
	while (model_first() != UINT64_MAX) {
		ns_t first = model_first(), before = now;

		armed_at = 0;
		ok = ok && timer_skip_idle() && now == MAX(first, before) && armed_at >= now;
	}
	return ok && !timer_skip_idle();
}

int main(void)
{
	const char *seed = getenv("SEED");

	srand(seed != NULL ? (unsigned)atoi(seed) : 1);
	for (unsigned i = 0; i < TIMERS; i++)
		timer_init(&timers[i], fire);
	timer_start(true);
	check(armed_at > 0 && armed_at < 55000000, "sched-timer-01", "an idle PIT is armed again in time");

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned n = (unsigned)rand() % TIMERS;
		/* coarse, so that there are ties; some in the past */
		ns_t deadline = now / 1000000 * 1000000 + (ns_t)(rand() % SPAN_NS / 1000000) * 1000000;

		slice_due = rand() % 4 == 0 ? now + 50000000 : UINT64_MAX;
		if (rand() % 4 == 0) {
			set[n] = false;
			timer_cancel(&timers[n]);
		} else {
			model_set(n, deadline);
		}
		if (slice_due < timer_armed_until)
			timer_rearm();
		run(now + (ns_t)(rand() % 5000000));
	}
	check(fired > STEPS / 10 && fired_wrong == 0, "sched-timer-02",
	      "timers fire by deadline, then in the order they were set");
	check(fired_early == 0, "sched-timer-03", "none fires before its deadline");
	check(late == 0, "sched-timer-04", "the PIT is armed for what is due first");
	model_set(0, now + 3000000000ull);
	model_set(1, now + 1);
	model_set(2, now - 1);
	check(skip_all() && fired_wrong == 0 && fired_early == 0, "sched-timer-05",
	      "an idle lab machine's clock goes from timer to timer");
	printf("1..%d\n", test);
	return failures != 0;
}
