/*
 * Pending timers, and the interrupt that fires them.
 *
 * The timers are one list, by deadline, equal ones in the order they were set; a new one looks
 * for its place from the end that is nearer in time. Outside the lab the PIT ticks HZ times a
 * second and each tick fires what is due. In the lab, and for a modelled drive, the PIT runs in
 * one-shot mode: it is armed for the first timer or the end of the running slice, and for 50 ms
 * at most, because its counter has 16 bits (54 ms); an interrupt that finds nothing due just
 * arms it again.
 *
 * An idle CPU in the lab doesn't halt: its clock is put forward to the first timer instead.
 * The wake-up from HLT is no exact moment in QEMU 7.2: its main loop, when something calls
 * it just as the CPU halts, warps its clock to the next timer before the CPU's last
 * instructions are added, so that they count twice (icount_start_warp_timer() against
 * icount_process_data()). A running CPU gets the PIT's interrupt at an exact instruction.
 *
 * timer.1  pending timers are sorted by deadline.
 * timer.2  one-shot mode: unless suspended, the PIT's interrupt comes no later than what is due.
 * timer.3  lab: the CPU halts only where the clock is frozen, or when no timer is set.
 */
#include "kernel/timer.h"

#include "drivers/pit.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/sample.h"
#include "kernel/sched.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "kernel/watchdog.h"

enum { TIMER_IRQ = 0 };
/* 59,660 counts. A whole slice, so that a thread which begins one finds the PIT armed
 * early enough and the switch need not touch it. */
enum { ARM_MAX_NS = SCHED_SLICE_MS * 1000000 };
enum { SUSPEND_TRIES = 32 };

ns_t timer_armed_until;
uint64_t timer_ticks;

static struct spinlock timer_lock = SPINLOCK_INIT(RANK_TIMER);
static struct list pending = LIST_INIT(pending);	/* by deadline */
static bool one_shot;
static bool suspended;

void timer_init(struct timer *t, void (*fire)(struct timer *))
{
	list_init(&t->link);
	t->deadline = 0;
	t->fire = fire;
}

/* PIT counts that last at least `ns`, at most ARM_MAX_NS; never 0. */
static uint16_t pit_counts(uint32_t ns)
{
	/* counts per nanosecond, times 2^32, rounded up */
	const uint32_t rate = (uint32_t)(((uint64_t)PIT_HZ << 32) / NS_PER_SECOND + 1);

	return (uint16_t)(((uint64_t)ns * rate >> 32) + 1);
}

/* RANK_TIMER held. */
static void rearm_locked(void)
{
	ns_t now = clock_ns();
	ns_t due = sched_slice_due();
	uint32_t ns = 0;

	if (!list_empty(&pending))
		due = MIN(due, list_first(&pending, struct timer, link)->deadline);
	if (due > now)
		ns = (uint32_t)MIN(due - now, (ns_t)ARM_MAX_NS);
	timer_armed_until = now + ns;
	pit_start_oneshot(pit_counts(ns));
}

void timer_rearm(void)
{
	uint32_t flags = spin_lock_irq(&timer_lock);

	rearm_locked();
	spin_unlock_irq(&timer_lock, flags);
}

static ns_t deadline_of(const struct list *link)
{
	return list_entry(link, struct timer, link)->deadline;
}

/* The last of the pending timers whose deadline isn't after `deadline`, or the list's head.
 * Thousands may sleep for long while a disk's time limit is set and cleared again. */
static struct list *place_of(ns_t deadline)
{
	struct list *at = pending.prev;

	if (!list_empty(&pending) && (int64_t)(deadline - deadline_of(pending.next)) <
				     (int64_t)(deadline_of(at) - deadline)) {
		for (at = pending.next; deadline_of(at) <= deadline; at = at->next)
			;
		return at->prev;
	}
	while (at != &pending && deadline_of(at) > deadline)
		at = at->prev;
	return at;
}

/*
 * Let t->fire(t) be called in interrupt context at `deadline` on clock_ns(), or as soon as
 * possible if that is past. A timer that was set is moved. It goes behind those with the
 * same deadline (timer.1); the PIT is armed anew if it would come too late (timer.2). Any
 * context; takes RANK_TIMER; never sleeps.
 */
void timer_set(struct timer *t, ns_t deadline)
{
	uint32_t flags = spin_lock_irq(&timer_lock);

	list_remove(&t->link);
	t->deadline = deadline;
	list_insert(place_of(deadline), &t->link);	/* timer.1 */
	if (deadline < timer_armed_until)
		rearm_locked();			/* timer.2 */
	spin_unlock_irq(&timer_lock, flags);
}

/* Any context; harmless if the timer is not set. */
void timer_cancel(struct timer *t)
{
	uint32_t flags = spin_lock_irq(&timer_lock);

	list_remove(&t->link);
	spin_unlock_irq(&timer_lock, flags);
}

/* Take the first timer off `list`; NULL if none is there that is due at `now`. */
static struct timer *take_due(struct list *list, ns_t now)
{
	struct timer *t = NULL;

	spin_lock(&timer_lock);
	if (!list_empty(list)) {
		t = list_first(list, struct timer, link);
		if (t->deadline <= now)
			list_remove(&t->link);
		else
			t = NULL;
	}
	spin_unlock(&timer_lock);
	return t;
}

/* Fire all that is due now, with no lock held. One that is set meanwhile waits for the
 * next interrupt, so that this ends; one that is cancelled is not fired. */
static void fire_due(void)
{
	struct list due = LIST_INIT(due);
	ns_t now = clock_ns();
	struct timer *t;

	while ((t = take_due(&pending, now)) != NULL)
		list_insert_tail(&due, &t->link);
	while ((t = take_due(&due, now)) != NULL)
		t->fire(t);
}

/* Whatever is due happens. Interrupts off. */
static void timer_expired(void)
{
	timer_armed_until = 0;			/* we arm it ourselves, below */
	fire_due();
	watchdog_look(clock_ns());
	sched_tick();
	sample_look(clock_ns());
	if (one_shot)
		timer_rearm();
}

static void timer_interrupt(unsigned irq, void *arg)
{
	(void)irq;
	(void)arg;
	COUNT(timer_ticks);
	if (suspended)
		return;
	if (!one_shot)
		timer_ticks++;
	timer_expired();
}

/* The deadline of the first pending timer; UINT64_MAX if there is none. */
static ns_t first_deadline(void)
{
	ns_t deadline = UINT64_MAX;

	spin_lock(&timer_lock);
	if (!list_empty(&pending))
		deadline = list_first(&pending, struct timer, link)->deadline;
	spin_unlock(&timer_lock);
	return deadline;
}

bool timer_skip_idle(void)
{
	ns_t deadline = lab_mode() ? first_deadline() : UINT64_MAX;

	if (deadline == UINT64_MAX)
		return false;
	lab_clock_skip(deadline);
	timer_expired();
	return true;
}

void timer_start(bool lab)
{
	one_shot = lab;
	if (irq_register(TIMER_IRQ, timer_interrupt, NULL) != 0)
		panic("no place for the timer's interrupt handler");
	if (one_shot)
		timer_rearm();
	else
		pit_start_periodic(TICK_COUNTS);
}

void timer_be_exact(void)
{
	uint32_t flags = irq_save();

	if (!one_shot && !clock_is_ticks()) {
		one_shot = true;
		timer_rearm();
	}
	irq_restore(flags);
}

/* A mode 0 count of 1 replaces what was armed. Its interrupt is taken here, and before
 * it perhaps that of the old count, which the controller may have seen already. */
void timer_suspend(void)
{
	KASSERT(!irqs_on() && !suspended, "timer.2");
	suspended = true;
	timer_armed_until = 0;
	pit_start_oneshot(1);
	for (unsigned n = 0; !pit_oneshot_over() || pit_irq_pending(); n++) {
		KASSERT(n < SUSPEND_TRIES, "the timer's last interrupt comes");
		__asm__ volatile("sti; hlt; cli" : : : "memory");
	}
}

void timer_resume(void)
{
	suspended = false;
	timer_rearm();
}
