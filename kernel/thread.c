/*
 * The thread table: making, finding and ending threads.
 *
 * A thread is named by its index in the table (tid) and the generation of that index,
 * which counts the threads that had it, so that a token of a dead thread finds nobody.
 * A dead thread can't free the stack that it stands on: it leaves itself in
 * `thread_dead`, and whoever runs next frees it. The table, its generations and the list
 * of all threads change under RANK_SCHED.
 */
#include "kernel/thread.h"

#include "kernel/cpu.h"
#include "kernel/panic.h"
#include "kernel/sched.h"
#include "kernel/string.h"
#include "kernel/trap.h"
#include "mm/pgtable.h"
#include "mm/slab.h"

/* The stack of a thread that has not run yet: thread_entry pops the rest. */
struct first_frame {
	struct switch_frame frame;
	uint32_t	    fn, arg;
};

_Static_assert(offsetof(struct thread, kstack_top) == 4, "kernel/entry.asm");

SLAB_CACHE(thread_cache, "thread", struct thread);

extern char boot_stack_top[];		/* boot/start.asm; KSTACK_BYTES of stack below */

struct thread boot_thread = { .name = "boot", .state = THREAD_RUNNING };
struct list thread_all = LIST_INIT(thread_all);
struct thread *thread_dead;

struct thread *thread_table[THREADS_MAX];
static uint16_t generation[THREADS_MAX];
static unsigned last_tid;		/* the search for a free one starts behind it */
static uint64_t dead_cycles[2];		/* of all that were; RANK_SCHED, interrupts off */

/* The fields that don't start as zero. */
static void thread_setup(struct thread *t, const char *name, enum thread_priority p)
{
	strlcpy(t->name, name, sizeof(t->name));
	t->priority = t->base_priority = (uint8_t)p;
	t->sleep_killable = true;
	list_init(&t->task_link);
	list_init(&t->run_link);
	list_init(&t->all_link);
	list_init(&t->ipc.link);
	list_init(&t->ipc.clients);
	timer_init(&t->wake_timer, sched_deadline);
}

static void stack_set_magic(struct thread *t)
{
	*(uint32_t *)(t->kstack_top - KSTACK_BYTES) = STACK_MAGIC;	/* thread.3 */
}

/* Give `t` the next free place in the table. False if it is full. Sched lock held. */
static bool table_insert(struct thread *t)
{
	for (unsigned n = 1; n <= THREADS_MAX; n++) {
		unsigned tid = (last_tid + n) % THREADS_MAX;

		if (thread_table[tid] != NULL)
			continue;
		if (++generation[tid] == 0)	/* a token is never 0 */
			generation[tid] = 1;
		thread_table[tid] = t;
		t->tid = (uint16_t)tid;
		t->generation = generation[tid];
		last_tid = tid;
		list_insert_tail(&thread_all, &t->all_link);
		return true;
	}
	return false;
}

/* Where the new thread begins: thread_entry, with fn and arg in registers. The room above
 * is for the frame that fn fills before it calls return_to_user(). */
static void stack_prepare(struct thread *t, void (*fn)(void *arg), void *arg)
{
	struct first_frame *f = (struct first_frame *)
		(t->kstack_top - sizeof(struct trap_frame) - sizeof(*f));

	*f = (struct first_frame){
		.frame.eip = (uint32_t)(uintptr_t)thread_entry,
		.fn = (uint32_t)(uintptr_t)fn,
		.arg = (uint32_t)(uintptr_t)arg,
	};
	t->kstack_esp = (uint32_t)(uintptr_t)f;
}

/* Make a thread of `task` (NULL: the kernel) that runs fn(arg) in the kernel; READY at
 * once. It is not on task->threads. NULL without memory or table space. Sleeps. */
struct thread *thread_create(struct task *task, const char *name,
			     void (*fn)(void *arg), void *arg,
			     enum thread_priority priority)
{
	struct thread *t = slab_alloc(&thread_cache, GFP_KERNEL);
	void *top;
	uint32_t flags;
	bool fits;

	if (t == NULL)
		return NULL;
	top = kstack_alloc();
	if (top == NULL)
		goto no_stack;
	memset(t, 0, sizeof(*t));
	thread_setup(t, name, priority);
	t->task = task;
	t->kthread = task == NULL;
	t->kstack_top = (uint32_t)(uintptr_t)top;
	stack_set_magic(t);
	stack_prepare(t, fn, arg);

	flags = spin_lock_irq(&sched_lock);
	fits = table_insert(t);
	if (fits)
		sched_make_ready(t);
	spin_unlock_irq(&sched_lock, flags);
	if (fits)
		return t;

	kstack_free(top);
no_stack:
	slab_free(&thread_cache, t);
	return NULL;
}

/* The first thing that a new thread does, on the switch to it, interrupts off. */
void thread_begin(void)
{
	if (thread_dead != NULL)
		thread_reap();
	irq_restore(FLAGS_IRQS_ON);
}

void thread_exit(void)
{
	KASSERT2(held_ranks == 0, "lock.4", held_ranks, current->tid);
	fpu_free(current);
	spin_lock_irq(&sched_lock);
	KASSERT(thread_dead == NULL, "thread.1");
	list_remove(&current->all_link);
	thread_table[current->tid] = NULL;
	current->task = NULL;
	current->state = THREAD_DEAD;
	thread_dead = current;
	sched_leave_locked();
	panic("thread %u (%s) ran after its end", current->tid, current->name);
}

/* Free what `thread_dead` stood on, which is not NULL. Interrupts off, no spinlock held. */
void thread_reap(void)
{
	struct thread *t = thread_dead;

	thread_dead = NULL;
	dead_cycles[CPU_USER] += t->cycles[CPU_USER];
	dead_cycles[CPU_SYSTEM] += t->cycles[CPU_SYSTEM];
	kstack_free((void *)(uintptr_t)t->kstack_top);
	slab_free(&thread_cache, t);
}

/* What all threads but the idle one have used, from boot on. Any context. */
ns_t cpu_time_ns(enum cpu_mode mode)
{
	uint32_t flags = spin_lock_irq(&sched_lock);
	ns_t sum = cycles_to_ns(dead_cycles[mode]);
	struct thread *t;

	list_for_each(t, &thread_all, all_link)
		if (t != &boot_thread)
			sum += thread_time_ns(t, mode);
	spin_unlock_irq(&sched_lock, flags);
	return sum;
}

/* Call fn for every thread, oldest first. RANK_SCHED is held meanwhile: fn may print. */
void thread_for_each(void (*fn)(struct thread *t, void *arg), void *arg)
{
	uint32_t flags = spin_lock_irq(&sched_lock);
	struct thread *t;

	list_for_each(t, &thread_all, all_link)
		fn(t, arg);
	spin_unlock_irq(&sched_lock, flags);
}

void thread_table_init(void)
{
	uint32_t flags;

	thread_setup(&boot_thread, "idle", PRIO_DRIVER);
	boot_thread.kthread = true;
	boot_thread.kstack_top = (uint32_t)(uintptr_t)boot_stack_top;
	stack_set_magic(&boot_thread);
	last_tid = THREADS_MAX - 1;		/* so the first thread is tid 0 */
	flags = spin_lock_irq(&sched_lock);
	table_insert(&boot_thread);		/* the table is empty: it fits */
	spin_unlock_irq(&sched_lock, flags);
}
