/*
 * The system calls by which proc makes, changes and ends tasks. Each checks everything
 * that can fail first and commits without sleeping at the end, so that a failure leaves
 * caller, client and kernel as they were.
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/cpu.h"
#include "kernel/file.h"
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
#include "mm/vma.h"

/* eflags of a new program: interrupts on, and the bit that is always 1. */
enum { EFLAGS_USER = 0x202 };

static bool is_proc(void)
{
	return (current->task->flags & TASK_PROC) != 0;
}

/* A name for logs and ps: NUL-ended, printable whatever was sent. */
static void name_clean(char name[16])
{
	name[15] = '\0';
	for (char *c = name; *c != '\0'; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
}

/* Read and check the arguments of task_create and task_exec. */
static int exec_load(struct abi_exec *e, vaddr_t user)
{
	int err = copy_from_user(e, user, sizeof(*e));

	if (err != OK)
		return err;
	if (!user_range_ok(e->entry, 1) || !user_range_ok(e->stack, 0) ||
	    e->heap < USER_START || e->heap > USER_MMAP_BASE)
		return -EINVAL;
	name_clean(e->name);
	return OK;
}

/* The registers of a program at its first instruction. */
static void frame_for_program(struct trap_frame *tf, uint32_t entry, uint32_t stack)
{
	memset(tf, 0, sizeof(*tf));
	tf->eip = entry;
	tf->cs = GDT_USER_CODE;
	tf->eflags = EFLAGS_USER;
	tf->esp = stack;
	tf->ss = GDT_USER_DATA;
}

static void heap_place(struct mm *mm, uint32_t heap)
{
	mm->heap_start = PAGE_UP(heap);
	mm->heap_end = mm->heap_start;
}

/* ---- task_create ---- */

static int insert_shared(struct handle_table *t, int h, struct kobject *k, unsigned rights)
{
	int err;

	kobject_hold(k);
	err = handle_insert_at(t, h, k, rights, 0);
	if (err < 0)
		kobject_drop(k);
	return err < 0 ? err : OK;
}

int task_birth_handles(struct task *t, unsigned proc_rights)
{
	unsigned console_rights = HANDLE_RIGHT_READ | HANDLE_RIGHT_WRITE;
	struct file *console = file_console();
	int err;

	err = insert_shared(&t->handles, HANDLE_PROC, &proc_endpoint->kobject, proc_rights);
	if (err == OK)
		err = insert_shared(&t->handles, HANDLE_FS, &proc_endpoint->kobject,
				    HANDLE_RIGHT_CALL);
	for (int fd = 0; fd < 3 && err == OK; fd++)
		err = insert_shared(&t->handles, fd, &console->kobject, console_rights);
	kobject_drop(&console->kobject);
	return err;
}

/* The first thing that a task's first thread does. */
static void program_enter(void *arg)
{
	(void)arg;
	return_to_user();
}

int task_launch(struct task *t, uint32_t entry, uint32_t stack)
{
	struct thread *thread = task_start(t, program_enter, NULL);

	if (thread == NULL)
		return -ENOMEM;
	frame_for_program(task_first_frame(thread), entry, stack);
	task_publish(t);
	return OK;
}

/* Make a task from the space's mm, which is taken if all goes well. */
static int create_from_space(int32_t pid, const struct abi_exec *e, struct space *s)
{
	struct task *t = task_alloc(pid, e->name);
	int err;

	if (t == NULL)
		return -ENOMEM;
	t->mm = s->mm;
	s->mm = NULL;			/* nobody else may take it while we sleep */
	heap_place(t->mm, e->heap);
	err = task_birth_handles(t, HANDLE_RIGHT_CALL);
	if (err == OK)
		err = task_launch(t, e->entry, e->stack);
	if (err != OK) {
		t->mm->task = NULL;
		s->mm = t->mm;
		task_free(t);
	}
	return err;
}

/* task_create(pid, struct abi_exec *). -EPERM -EFAULT -EINVAL -EEXIST -EBADF -ENOMEM. */
int32_t sys_task_create(const uint32_t *arg)
{
	struct handle_table *table = &current->task->handles;
	int32_t pid = (int32_t)arg[0];
	struct abi_exec e;
	struct space *s;
	int err;

	if (!is_proc())
		return -EPERM;
	err = exec_load(&e, arg[1]);
	if (err != OK)
		return err;
	if (pid < 1 || pid > TASK_PID_MAX)
		return -EINVAL;
	if (task_find(pid) != NULL)
		return -EEXIST;
	s = space_get(table, e.space, &err);
	if (s == NULL)
		return err;
	err = s->mm == NULL ? -EBADF : create_from_space(pid, &e, s);
	if (err == OK)
		handle_close(table, e.space);
	kobject_drop(&s->kobject);
	return err;
}

/* ---- task_exec ---- */

/* Give the client's task its new address space. Nothing here fails or sleeps. */
static void exec_commit(struct thread *client, const struct abi_exec *e, struct mm *mm)
{
	struct task *t = client->task;

	KASSERT(t->exec_old_mm == NULL, "an exec ends before the next");
	heap_place(mm, e->heap);
	limits_init(mm, t->mm);
	mm->task = t;
	t->exec_old_mm = t->mm;
	t->mm = mm;
	handle_table_close_on_exec(&t->handles);
	fpu_reset(client);
	strlcpy(t->name, e->name, sizeof(t->name));
	strlcpy(client->name, e->name, sizeof(client->name));
	frame_for_program(task_first_frame(client), e->entry, e->stack);
	COUNT(exec);
	TRACE(EXEC, t->pid, e->entry, 0);
	ipc_answer_by_exec(client);
}

/* task_exec(token, struct abi_exec *): the client of the call runs another program, and the
 * call is answered by that. -EPERM -EFAULT -EINVAL -EBADF -ESRCH, -EBUSY if its task has
 * several threads. On every error the client still waits. */
int32_t sys_task_exec(const uint32_t *arg)
{
	struct handle_table *table = &current->task->handles;
	struct thread *client;
	struct abi_exec e;
	struct space *s;
	struct mm *mm;
	int err;

	if (!is_proc())
		return -EPERM;
	err = exec_load(&e, arg[1]);
	if (err != OK)
		return err;
	s = space_get(table, e.space, &err);
	if (s == NULL)
		return err;
	client = ipc_find_client(arg[0]);
	if (s->mm == NULL)
		err = -EBADF;
	else if (client == NULL)
		err = -ESRCH;
	else if (!ipc_client_is_user(client))
		err = -EINVAL;
	else if (client->task->threads.next != client->task->threads.prev)
		err = -EBUSY;
	else
		err = OK;
	if (err == OK) {
		mm = s->mm;
		s->mm = NULL;
		handle_close(table, e.space);
		exec_commit(client, &e, mm);
	}
	kobject_drop(&s->kobject);
	return err;
}

/* ---- task_clone ---- */

/* A clone's first thread: still in the parent's call, with a token of its own. */
static void clone_enter(void *arg)
{
	struct trap_frame *tf = current_trap_frame();

	(void)arg;
	tf->eax = (uint32_t)ipc_finish_clone(tf->ecx);
	return_to_user();
}

/* Copy what the parent has into a task without a thread. Sleeps. */
static int clone_parts(struct task *child, struct task *parent)
{
	int err = handle_table_copy(&child->handles, &parent->handles);

	if (err != OK)
		return err;
	child->mm = mm_fork(parent->mm, &err);
	if (child->mm == NULL)
		return err;
	child->mm->task = child;
	child->uid = parent->uid;
	child->gid = parent->gid;
	return OK;
}

/* The child's thread and its part in the call. The frame comes from the moment of the call,
 * as the client may have been killed since. Sleeps. */
static int clone_thread(struct task *child, struct thread *client,
			const struct trap_frame *frame)
{
	struct thread *thread = task_start(child, clone_enter, NULL);
	int err;

	if (thread == NULL) {
		mm_destroy(child->mm);
		task_free(child);
		return -ENOMEM;
	}
	*task_first_frame(thread) = *frame;
	ipc_clone_attach(thread);
	err = fpu_copy(thread, client);
	if (err != OK) {
		task_kill(child, 0);
		return err;
	}
	task_publish(child);
	return (int)ipc_token(thread);
}

/* With the parent pinned: make the child. Its token, or an error with nothing left. */
static int clone_pinned(struct thread *client, int32_t pid)
{
	struct trap_frame frame = *task_first_frame(client);
	struct task *parent = client->task, *child;
	int result;

	child = task_alloc(pid, parent->name);
	if (child == NULL)
		return -ENOMEM;
	result = clone_parts(child, parent);
	if (result != OK)
		task_free(child);
	else
		result = clone_thread(child, client, &frame);
	return result;
}

/* task_clone(token, pid) -> token of the child. -EPERM -EINVAL -EEXIST -ESRCH -ENOMEM, -EAGAIN
 * when a page is shared too often. If the parent is killed meanwhile the child is born
 * all the same. */
int32_t sys_task_clone(const uint32_t *arg)
{
	int32_t pid = (int32_t)arg[1], result;
	struct thread *client;
	struct task *parent;

	if (!is_proc())
		return -EPERM;
	if (pid < 1 || pid > TASK_PID_MAX)
		return -EINVAL;
	if (task_find(pid) != NULL)
		return -EEXIST;
	client = ipc_find_client(arg[0]);
	if (client == NULL)
		return -ESRCH;
	if (!ipc_client_is_user(client))
		return -EINVAL;
	parent = client->task;
	task_pin(parent);
	result = clone_pinned(client, pid);
	task_unpin(parent);
	if (result > 0 || result < -4095) {
		COUNT(fork);
		TRACE(FORK, parent->pid, pid, 0);
	}
	return result;
}

/* ---- task_control ---- */

static void make_server(struct task *t)
{
	struct thread *thread;

	t->flags |= TASK_SERVER;
	list_for_each(thread, &t->threads, task_link) {
		thread->base_priority = PRIO_SERVER;
		if (thread->priority > PRIO_SERVER)
			thread_set_priority(thread, PRIO_SERVER);
	}
}

static int set_name(int32_t pid, vaddr_t user)
{
	char name[16];
	struct task *t;
	int err = copy_from_user(name, user, sizeof(name));

	if (err != OK)
		return err;
	name_clean(name);
	t = task_find(pid);		/* the copy may have slept */
	if (t == NULL)
		return -ESRCH;
	strlcpy(t->name, name, sizeof(t->name));
	return OK;
}

/* task_control(pid, TASK_CTL_*, arg). -EPERM -ESRCH -EINVAL -EFAULT. proc only. */
int32_t sys_task_control(const uint32_t *arg)
{
	struct task *t = task_find((int32_t)arg[0]);
	struct abi_usage usage;

	if (!is_proc())
		return -EPERM;
	if (t == NULL)
		return -ESRCH;
	switch (arg[1]) {
	case TASK_CTL_KILL:
		task_kill(t, (int32_t)(arg[2] & 0xffff));
		return OK;
	case TASK_CTL_NAME:
		return set_name(t->pid, arg[2]);
	case TASK_CTL_IDS:
		t->uid = arg[2] & 0xffff;
		t->gid = arg[2] >> 16;
		return OK;
	case TASK_CTL_SERVER:
		make_server(t);
		return OK;
	case TASK_CTL_USAGE:
		task_usage(t, &usage);
		return copy_to_user(arg[2], &usage, sizeof(usage));
	default:
		return -EINVAL;
	}
}
