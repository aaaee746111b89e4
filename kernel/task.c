/*
 * Tasks: their list, their birth, their death. Killing only marks: each thread of a dying
 * task ends itself on its way to user mode (thread_before_user_mode()), where it holds
 * nothing, and the last one tears the task down in its own context, where it may sleep.
 * What is left then (pid, status, usage) waits on the dead list until proc reaps it.
 *
 * Who sleeps while it uses another task's mm pins the task: task_pin().
 */
#include "kernel/abi/errno.h"
#include "kernel/cpu.h"
#include "kernel/counters.h"
#include "kernel/ipc.h"
#include "kernel/panic.h"
#include "kernel/space.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "kernel/trap.h"
#include "kernel/usercopy.h"
#include "mm/slab.h"
#include "mm/vma.h"

static struct spinlock tasks_lock = SPINLOCK_INIT(RANK_TASKS);
static struct list tasks = LIST_INIT(tasks);		/* by pid */
static struct list dead_tasks = LIST_INIT(dead_tasks);	/* in order of death */
static struct waitq unpinned = WAITQ_INIT(unpinned);

struct endpoint *proc_endpoint;

/* Tasks report to proc's endpoint from their first day on, so it is made before proc. */
void task_init(void)
{
	proc_endpoint = endpoint_create();
	if (proc_endpoint == NULL)
		panic("boot: no memory for proc's endpoint");
}

struct task *current_task(void)
{
	return current->task;
}

/* The last link of the list whose task's pid is at most `pid`, or the list's head. From the
 * end: who is asked for is most often young. */
static struct list *place_of(int32_t pid)
{
	struct list *place = tasks.prev;

	while (place != &tasks && list_entry(place, struct task, link)->pid > pid)
		place = place->prev;
	return place;
}

struct task *task_find(int32_t pid)
{
	struct list *place = place_of(pid);
	struct task *t = list_entry(place, struct task, link);

	return place != &tasks && t->pid == pid ? t : NULL;
}

void task_for_each(bool (*fn)(struct task *t, void *arg), void *arg)
{
	struct task *t;

	spin_lock(&tasks_lock);
	list_for_each(t, &tasks, link) {
		if (!fn(t, arg))
			break;
	}
	spin_unlock(&tasks_lock);
}

/* ---- Birth ---- */

struct task *task_alloc(int32_t pid, const char *name)
{
	struct task *t = kmalloc(sizeof(*t), GFP_KERNEL);

	if (t == NULL)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->start = clock_ns();
	strlcpy(t->name, name, sizeof(t->name));
	handle_table_init(&t->handles);
	list_init(&t->threads);
	list_init(&t->link);
	list_init(&t->dead_link);
	return t;
}

void task_free(struct task *t)
{
	KASSERT(list_empty(&t->threads) && list_empty(&t->link), "task is in use");
	handle_table_close_all(&t->handles);
	kfree(t);
}

struct thread *task_start(struct task *t, void (*fn)(void *arg), void *arg)
{
	enum thread_priority priority = t->flags & TASK_SERVER ? PRIO_SERVER : PRIO_USER;
	struct thread *thread = thread_create(t, t->name, fn, arg, priority);

	if (thread == NULL)
		return NULL;
	list_insert_tail(&t->threads, &thread->task_link);
	ipc_thread_init(thread);
	t->mm->task = t;
	return thread;
}

void task_publish(struct task *t)
{
	spin_lock(&tasks_lock);
	list_insert(place_of(t->pid), &t->link);
	spin_unlock(&tasks_lock);
}

struct trap_frame *task_first_frame(struct thread *t)
{
	return (struct trap_frame *)(uintptr_t)(t->kstack_top - sizeof(struct trap_frame));
}

/* ---- Death ---- */

void task_kill(struct task *t, int32_t status)
{
	struct thread *thread;

	if (!(t->flags & TASK_DYING)) {
		t->flags |= TASK_DYING;
		t->exit_status = status;
	}
	list_for_each(thread, &t->threads, task_link)
		thread_kill(thread);
}

void task_pin(struct task *t)
{
	t->pins++;
}

/* Only proc pins, and it has one thread. */
bool task_waits_for_current(const struct task *t)
{
	return t->pins > 0 && current->task != NULL && (current->task->flags & TASK_PROC);
}

void task_unpin(struct task *t)
{
	KASSERT(t->pins > 0, "pins are paired");
	if (--t->pins == 0)
		waitq_wake_all(&unpinned);
}

/* proc is gone: nobody could make, reap or judge tasks any more. */
static NORETURN void proc_died(int32_t status)
{
	if (status & 0x7f)
		panic("proc died: signal %d", (int)(status & 0x7f));
	panic("proc died: it exited with %d", (int)(status >> 8));
}

void task_exec_finish(void)
{
	struct task *t = current->task;
	struct mm *old = t->exec_old_mm;

	t->exec_old_mm = NULL;
	if (old != NULL) {
		t->dead_max_rss = MAX(t->dead_max_rss, old->max_rss);
		mm_destroy(old);
	}
}

/* Give back all that the task has; the running thread is its last. The mm stays the
 * task's to the end, so that the OOM killer sees that memory is still to come. Sleeps. */
static void task_teardown(struct task *t)
{
	wait_event(&unpinned, t->pins == 0, SLEEP_UNKILLABLE, 0, "unpin");
	handle_table_close_all(&t->handles);
	space_collect();
	task_exec_finish();
	if (t->mm == NULL)
		return;
	t->dead_max_rss = MAX(t->dead_max_rss, t->mm->max_rss);
	mm_destroy(t->mm);
}

/* The running thread leaves its task; its time stays. */
static void thread_leave_task(struct task *t)
{
	list_remove(&current->task_link);
	t->dead_ns[CPU_USER] += thread_time_ns(current, CPU_USER);
	t->dead_ns[CPU_SYSTEM] += thread_time_ns(current, CPU_SYSTEM);
	current->task = NULL;
}

/* Hand what is left of a task to proc; of one that proc never got, nothing is left. */
static void task_bury(struct task *t)
{
	if (list_empty(&t->link)) {
		task_free(t);
		return;
	}
	COUNT(exit);
	TRACE(EXIT, t->pid, t->exit_status, 0);
	spin_lock(&tasks_lock);
	list_insert_tail(&dead_tasks, &t->dead_link);
	spin_unlock(&tasks_lock);
	endpoint_notify(proc_endpoint, NOTIFY_TASK_DEAD);
}

NORETURN void task_exit_thread(void)
{
	struct task *t = current->task;

	ipc_thread_end(current);
	if (t->threads.next == &current->task_link && t->threads.prev == &current->task_link) {
		t->flags |= TASK_DYING;
		if (t->flags & TASK_PROC)
			proc_died(t->exit_status);
		current->memalloc++;	/* what frees memory may use the reserve */
		task_teardown(t);
		thread_leave_task(t);
		task_bury(t);
	} else {
		thread_leave_task(t);
	}
	thread_exit();
}

/* exit(status): TASK_STATUS_EXIT or TASK_STATUS_SIGNAL. Takes effect on the way out. */
int32_t sys_exit(const uint32_t *arg)
{
	task_kill(current->task, (int32_t)(arg[0] & 0xffff));
	return OK;
}

/* ---- Afterwards ---- */

void task_usage(const struct task *t, struct abi_usage *u)
{
	struct thread *thread;

	memset(u, 0, sizeof(*u));
	u->user_ns = t->dead_ns[CPU_USER];
	u->system_ns = t->dead_ns[CPU_SYSTEM];
	list_for_each(thread, &t->threads, task_link) {
		u->user_ns += thread_time_ns(thread, CPU_USER);
		u->system_ns += thread_time_ns(thread, CPU_SYSTEM);
	}
	u->faults = t->faults;
	u->major_faults = t->major_faults;
	u->swapped_in = t->swapped_in;
	u->max_rss_pages = t->dead_max_rss;
	if (t->mm != NULL)
		u->max_rss_pages = MAX(u->max_rss_pages, t->mm->max_rss);
}

/* task_reap(struct abi_reaped *) -> 1, or 0 if nobody is left. proc only. On -EFAULT
 * the dead task stays where it was. */
int32_t sys_task_reap(const uint32_t *arg)
{
	struct abi_reaped r;
	struct task *t;

	if (!(current->task->flags & TASK_PROC))
		return -EPERM;
	if (list_empty(&dead_tasks))
		return 0;
	t = list_first(&dead_tasks, struct task, dead_link);
	memset(&r, 0, sizeof(r));
	r.pid = t->pid;
	r.status = t->exit_status;
	r.oom = (t->flags & TASK_OOM) != 0;
	task_usage(t, &r.usage);

	list_remove(&t->dead_link);	/* ours while the copy may sleep */
	if (copy_to_user(arg[0], &r, sizeof(r)) != OK) {
		list_insert(&dead_tasks, &t->dead_link);
		return -EFAULT;
	}
	spin_lock(&tasks_lock);
	list_remove(&t->link);
	spin_unlock(&tasks_lock);
	task_free(t);
	return 1;
}

/* task_usage(struct abi_usage *): the caller's own. */
int32_t sys_task_usage(const uint32_t *arg)
{
	struct abi_usage u;

	task_usage(current->task, &u);
	return copy_to_user(arg[0], &u, sizeof(u));
}
