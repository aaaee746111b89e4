/*
 * A task: address space, handle table, threads, and what proc has told us of it.
 */
#ifndef KERNEL_TASK_H
#define KERNEL_TASK_H

#include "kernel/abi/task.h"
#include "kernel/handle.h"
#include "kernel/list.h"
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
	uint64_t	dead_cycles[2];	/* t  of threads that have ended, by enum cpu_mode */
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

/* A user-mode exception: ask proc (an IPC call on the thread's behalf) or, before
 * proc is there, panic. Returns when proc says "go on". */
void task_exception(struct trap_frame *tf, int signal, vaddr_t addr, const char *why);

/* Load and start the proc server from the boot archive, as pid 1's parent. */
void task_start_proc(void);

#endif
