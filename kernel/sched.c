/*
 * The scheduler: run queues, slices, switching, and whose time it was.
 *
 * One queue for each priority and a word that says which ones hold a thread; the best
 * is found by one bit scan. The kernel switches only in sched_leave_locked() and in
 * sched_switch_sleeping() (kernel/switch.h), which a thread reaches by sleeping, by cond_resched() and on its
 * way to user mode. Interrupt handlers make threads READY and set need_resched.
 *
 * A slice is 50 ms by the clock. A thread that gives way to a better one keeps its turn;
 * one whose slice is over goes to the end of its queue, if it has ready equals. A thread
 * that is switched to directly (IPC) goes on with the slice it had: what its server does
 * for it counts, so that one which calls all the time can't starve its equals.
 *
 * Time is charged where it changes hands, at the kernel's entry and exit and at each
 * switch: the moment is added to what ends and taken from what begins. So the entry of
 * thread.cycles that is being used right now lacks cycles_read(); all others are sums.
 */
#include "kernel/sched.h"

#include "kernel/cpu.h"
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/switch.h"
#include "kernel/task.h"
#include "kernel/timer.h"
#include "kernel/trace.h"
#include "kernel/trap.h"
#include "mm/pgtable.h"

enum { SLICE_TICKS = SCHED_SLICE_MS * HZ / 1000 };

/* From the kernel's first instruction on there is a running thread, so that locks,
 * trace and panic need not ask. */
struct thread *current = &boot_thread;
uint32_t need_resched;
struct spinlock sched_lock = SPINLOCK_INIT(RANK_SCHED);

static struct list run_queue[PRIO_COUNT];
static uint32_t ready_mask;		/* bit p: run_queue[p] holds a thread */
static struct thread *idle_thread;	/* NULL until boot is over */

enum queue_end { QUEUE_FIRST, QUEUE_LAST };

static void queue_insert(struct thread *t, enum queue_end end)
{
	struct list *queue = &run_queue[t->priority];

	t->state = THREAD_READY;
	if (end == QUEUE_FIRST)
		list_insert(queue, &t->run_link);
	else
		list_insert_tail(queue, &t->run_link);
	ready_mask |= BIT(t->priority);
}

static void queue_remove(struct thread *t)
{
	list_remove(&t->run_link);
	if (list_empty(&run_queue[t->priority]))
		ready_mask &= ~BIT(t->priority);
}

/* Is a thread READY that is at least as good as priority `p`? */
static bool ready_upto(unsigned p)
{
	return (ready_mask & ((2u << p) - 1)) != 0;
}

void sched_make_ready(struct thread *t)
{
	KASSERT(list_empty(&t->run_link), "thread.2");
	queue_insert(t, QUEUE_LAST);
	if (t->priority < current->priority)
		need_resched = true;
}

static inline bool slice_over(const struct thread *t, uint64_t now)
{
	return now >= t->slice_end;
}

static inline void slice_begin(struct thread *t, uint64_t now)
{
	t->slice_end = now + (uint64_t)SLICE_TICKS * cycles_per_tick;
}

/* No thread is READY: let time pass until something happens. Interrupts are off, and open
 * meanwhile. A lab machine without a timer waits for input, which comes when the host
 * likes; else the other interrupts get their chance when the timers are done. */
static void wait_idle(void)
{
	if (timer_skip_idle())
		__asm__ volatile("sti; nop; cli" : : : "memory");
	else
		__asm__ volatile("sti; hlt; cli" : : : "memory");	/* timer.3 */
}

/*
 * Take the first thread of the best run queue off it (READY, thread.2) and return it. The idle
 * thread if there is none; while it still boots, wait for an interrupt to make one READY.
 * Sched lock held, interrupts off; the lock is let go while waiting. (Always inline.)
 */
ALWAYS_INLINE struct thread *sched_take_best(void)
{
	struct thread *t;

	while (ready_mask == 0) {
		if (idle_thread != NULL)
			return idle_thread;
		spin_unlock(&sched_lock);
		wait_idle();
		spin_lock(&sched_lock);
	}
	t = list_first(&run_queue[__builtin_ctz(ready_mask)], struct thread, run_link);
	queue_remove(t);
	return t;
}

void sched_leave_locked(void)
{
	struct thread *next;
	uint64_t now;

	KASSERT2(spin_ranks() == BIT(RANK_SCHED), "lock.2", held_ranks, current->tid);
	next = sched_take_best();
	need_resched = next->killed;
	spin_unlock(&sched_lock);
	now = cycles_now();
	if (slice_over(next, now))
		slice_begin(next, now);
	if (next == current) {
		current->state = THREAD_RUNNING;
		return;
	}
	TRACE(SWITCH, current->tid, next->tid, 0);
	sched_switch(next, now);
}

/* Let the best thread run, if one is better than `current`, or equal and the slice is
 * over. `current` stays READY, and first among its equals in the first case. Interrupts
 * off. */
static void preempt(void)
{
	uint64_t now = cycles_now();

	spin_lock(&sched_lock);
	if (ready_upto(current->priority)) {
		queue_insert(current, slice_over(current, now) ? QUEUE_LAST : QUEUE_FIRST);
		sched_leave_locked();
		return;
	}
	need_resched = current->killed;
	spin_unlock(&sched_lock);
	if (slice_over(current, now))
		slice_begin(current, now);
}

/* Give up the CPU and the rest of the slice, while READY, if an equal or a better thread
 * is READY too. Sleeps, in a way: no spinlock held. */
void sched_yield(void)
{
	uint32_t flags = spin_lock_irq(&sched_lock);

	if (ready_upto(current->priority)) {
		current->slice_end = 0;
		queue_insert(current, QUEUE_LAST);
		sched_leave_locked();
	} else {
		spin_unlock(&sched_lock);
	}
	irq_restore(flags);
}

/* IPC's general way: see kernel/thread.h. sched_switch_sleeping() has the rest. */
void sched_switch_to(struct thread *next)
{
	irq_off();
	if (current->killed) {
		thread_wake(next, 0);
		current->wake_result = -EINTR;
	} else {
		sched_switch_sleeping(current, next, cycles_now());
	}
	irq_on();
}

/* `next` is about to run, but its slice is over, or ends before the lab's timer comes.
 * Interrupts off. */
void sched_slice_late(const struct thread *next, uint64_t now)
{
	if (slice_over(next, now))
		need_resched = true;
	else
		timer_rearm();
}

/* A resched point in a long loop of the kernel. No spinlock held. */
void cond_resched(void)
{
	uint32_t flags;

	KASSERT2(spin_ranks() == 0, "lock.2", held_ranks, current->tid);
	if (!need_resched)
		return;
	flags = irq_save();
	preempt();
	irq_restore(flags);
}

void thread_before_user_mode(void)
{
	KASSERT2(held_ranks == 0, "lock.4", held_ranks, current->tid);
	if (need_resched)
		preempt();
	if (current->killed) {
		irq_restore(FLAGS_IRQS_ON);
		task_exit_thread();
	}
}

void thread_set_priority(struct thread *t, enum thread_priority p)
{
	uint32_t flags;

	if (t->priority == p)
		return;
	flags = spin_lock_irq(&sched_lock);
	if (t->state == THREAD_READY && t != idle_thread) {
		queue_remove(t);
		t->priority = p;
		sched_make_ready(t);
	} else {
		t->priority = p;
		if (t == current && (ready_mask & (BIT(p) - 1)) != 0)
			need_resched = true;
	}
	spin_unlock_irq(&sched_lock, flags);
}

/* Without a TSC time goes on in the interrupt, when the kernel is entered already. Did
 * this tick interrupt user mode? Then the frame on top of the stack is its own. */
static bool tick_from_user(void)
{
	const struct trap_frame *tf = current_trap_frame();

	return current->task != NULL && trap_from_user(tf) && tf->vector == VECTOR_IRQ0;
}

void sched_tick(void)
{
	uint64_t now = cycles_now();

	if (clock_is_ticks() && tick_from_user()) {
		current->cycles[CPU_USER]++;
		current->cycles[CPU_SYSTEM]--;
	}
	if (current == idle_thread || !slice_over(current, now))
		return;
	if (ready_upto(current->priority))
		need_resched = true;
	else
		slice_begin(current, now);
}

ns_t sched_slice_due(void)
{
	if (current == idle_thread || need_resched)
		return UINT64_MAX;
	return cycles_to_ns(current->slice_end);
}

/* Take over the boot stack as the first thread, which stays in front until it sleeps. */
void sched_init(void)
{
	for (unsigned p = 0; p < PRIO_COUNT; p++)
		list_init(&run_queue[p]);
	thread_table_init();
}

void sched_idle(void)
{
	irq_save();
	KASSERT2(held_ranks == 0, "lock.4", held_ranks, current->tid);
	current->cycles[CPU_SYSTEM] = -cycles_read();	/* boot was no idling */
	current->priority = current->base_priority = PRIO_IDLE;
	idle_thread = current;
	for (;;) {
		spin_lock(&sched_lock);
		if (ready_mask != 0) {
			current->state = THREAD_READY;
			sched_leave_locked();
		} else {
			spin_unlock(&sched_lock);
			wait_idle();
		}
	}
}

/* Nanoseconds that `t` has used in `mode`; for the running thread, up to now. */
ns_t thread_time_ns(const struct thread *t, enum cpu_mode mode)
{
	uint64_t cycles = t->cycles[mode];

	if (t == current && mode == CPU_SYSTEM)
		cycles += cycles_read();
	return cycles_to_ns(cycles);
}

/* Nanoseconds in which no thread was READY, since the end of boot. */
ns_t idle_time_ns(void)
{
	return idle_thread == NULL ? 0 : thread_time_ns(idle_thread, CPU_SYSTEM);
}
