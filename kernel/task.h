/*
 * A task: address space, handle table, threads, and what proc has told us of it.
 */
#ifndef KERNEL_TASK_H
#define KERNEL_TASK_H

#include "kernel/abi/task.h"
#include "kernel/handle.h"
#include "kernel/list.h"
#include "kernel/time.h"
#include "kernel/types.h"

struct mm;
struct thread;
struct trap_frame;

enum task_flag {
	TASK_SERVER = BIT(0),	/* never an OOM victim; scheduled above programs */
	TASK_PROC   = BIT(1),	/* the proc server: may make and kill tasks */
	TASK_DYING  = BIT(2),
	TASK_OOM    = BIT(3),	/* the OOM killer's victim */
};

/* t: RANK_TASKS   c: constant   o: only its own threads */
struct task {
	int32_t		pid;		/* c  chosen by proc; 0 is the kernel */
	uint32_t	uid, gid;	/* t */
	uint32_t	flags;		/* t  enum task_flag */
	struct mm      *mm;		/* t  NULL once it is torn down */
	struct handle_table handles;
	struct list	threads;	/* t */
	struct list	link;		/* t  all tasks, by pid */
	int32_t		exit_status;	/* t  as wait() gives it: code << 8 or signal */
	ns_t		start;		/* c  clock_ns() */
	ns_t		dead_ns[2];	/* t  of threads that have ended, by enum cpu_mode */
	uint32_t	dead_max_rss;	/* o  of address spaces that it no longer has */
	struct mm      *exec_old_mm;	/* o  replaced by exec, destroyed by its own thread */
	uint32_t	pins;		/* t  > 0: the teardown waits (task_pin()) */
	struct list	dead_link;	/* t  waiting to be reaped */
	uint64_t	faults, major_faults;	/* o */
	uint64_t	swapped_in;	/* o  pages it waited for */
	char		name[16];	/* t */
};

void task_init(void);
/* The task of the running thread; NULL for a kernel thread. */
struct task *current_task(void);
/* Look up by pid, RANK_TASKS held or interrupts of no concern (no reference is
 * taken: the kernel doesn't switch threads before the caller sleeps). */
struct task *task_find(int32_t pid);
/* Call fn for every task, RANK_TASKS held; stops when it returns false. */
void task_for_each(bool (*fn)(struct task *t, void *arg), void *arg);

/* Kill all threads of `t`; they tear it down on their own way out. `status` is
 * what wait() will give (the first caller's stands). Never sleeps, never allocates. */
void task_kill(struct task *t, int32_t status);
/* The last thread of the running task has come to its end. */
NORETURN void task_exit_thread(void);

/* Keep a task from being torn down while the caller sleeps and uses its mm or handles;
 * `t` must have a thread that lives. Short: a dying thread waits for it. */
void task_pin(struct task *t);
void task_unpin(struct task *t);
/* Can't `t` be torn down before the running thread, which pinned it, goes on? */
bool task_waits_for_current(const struct task *t);
/* What `t` has used up to now, its dead threads included. */
void task_usage(const struct task *t, struct abi_usage *u);
/* After task_exec(): the new program's thread destroys the old address space. Sleeps. */
void task_exec_finish(void);

/* A task that doesn't run yet: empty handle table, no threads, on no list. NULL without
 * memory. Sleeps. task_free() is for one that never got further. */
struct task *task_alloc(int32_t pid, const char *name);
void task_free(struct task *t);
/* Its only thread, READY, which runs fn(arg) in the kernel first; NULL without memory.
 * t->mm is there already. Sleeps. A task that has a thread but isn't published yet is
 * undone by task_kill(): its thread takes all down and nobody hears of it. */
struct thread *task_start(struct task *t, void (*fn)(void *arg), void *arg);
/* From now on it is found by its pid, and its death is told. Never sleeps. */
void task_publish(struct task *t);
/* Start it as a program and publish it. -ENOMEM. Sleeps. */
int  task_launch(struct task *t, uint32_t entry, uint32_t stack);
/* The handles that every program is born with; proc has more rights to its endpoint
 * than others. -ENOMEM. Sleeps. */
int  task_birth_handles(struct task *t, unsigned proc_rights);
/* The frame with which a thread of a task enters user mode for the first time. */
struct trap_frame *task_first_frame(struct thread *t);

/* proc's endpoint, where exceptions and the kernel's notifications go. */
struct endpoint;
extern struct endpoint *proc_endpoint;

/* A user-mode exception: ask proc (an IPC call on the thread's behalf) or, before
 * proc is there, panic. Returns when proc says "go on". */
void task_exception(struct trap_frame *tf, int signal, vaddr_t addr, const char *why);

/* Load and start the proc server from the boot archive, as pid 1's parent. */
void task_start_proc(void);

#endif
