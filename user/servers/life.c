/* The lives of processes: fork, exec, wait, kill, exceptions, the end. */
#include <string.h>
#include "kernel/abi/errno.h"
#include "user/libc/stack_image.h"
#include "user/servers/load.h"
#include "user/servers/proc.h"
#include "user/servers/proc_internal.h"

/* Signals that do nothing to a process without a handler, by newlib's numbers. */
enum { SIG_MAX = 31, SIG_URG = 16, SIG_CONT = 19, SIG_CHLD = 20, SIG_WINCH = 28 };

enum { WAIT_NOHANG = 1, REAP_TRIES = 1000 };

int proc_fork(struct process *p, struct ipc_message *m)
{
	struct ipc_message to_child = { .label = OK };
	struct process *child = process_alloc(p);
	int token;

	if (!child)
		return -EAGAIN;
	token = sys_task_clone(m->token, child->pid);
	if (token < 0 && sys_failed(token)) {
		process_free(child);
		return token;
	}
	proc_reply((uint32_t)token, &to_child);
	m->word[0] = (uint32_t)child->pid;
	m->data_bytes = 0;
	return OK;
}

/* Last part of a path, cut to what a name holds. */
static void name_of(char name[16], const char *path)
{
	strncpy(name, strrchr(path, '/') + 1, 15);
	name[15] = '\0';
}

int proc_exec(struct process *p, struct ipc_message *m)
{
	char path[NAME_BYTES];
	struct file_name file;
	struct abi_exec exec;
	int error = message_path(p, m, path, &file);

	if (error != OK)
		return error;
	if (message_handles < 1)
		return -EINVAL;
	if (!(file.mode & ABI_S_IFREG) || !(file.mode & 0111))
		return -EACCES;
	error = program_load(&exec, &file, m->handle[0], m->word[0]);
	if (error != OK)
		return error;
	name_of(exec.name, path);
	error = sys_task_exec(m->token, &exec);
	if (error < 0) {
		sys_handle_close(exec.space);
		return error;
	}
	memcpy(p->name, exec.name, sizeof(p->name));
	return NO_REPLY;
}

/* A child of `p` that wait(pid) means, zombies before others. NULL: there is none. */
static struct process *child_wanted(struct process *p, int32_t pid)
{
	struct process *alive = NULL;

	for (struct process *c = p->children; c; c = c->next) {
		if (pid > 0 && c->pid != pid)
			continue;
		if (c->state == PROCESS_ZOMBIE)
			return c;
		alive = c;
	}
	return alive;
}

/* Write the reply that tells of zombie `c` into *m and message_data. */
static void zombie_tell(struct process *c, struct ipc_message *m)
{
	struct abi_usage sum = c->own;

	usage_add(&sum, &c->waited);
	m->word[0] = (uint32_t)c->pid;
	m->word[1] = (uint32_t)c->status;
	memcpy(message_data, &sum, sizeof(sum));
	m->data = (uint32_t)message_data;
	m->data_bytes = sizeof(sum);
	words_will_do = true;		/* who has died of what is worth more than its usage */
}

/* `p` has been told of zombie `c`: book its figures and forget it. */
static void zombie_bury(struct process *p, struct process *c)
{
	usage_add(&p->waited, &c->own);
	usage_add(&p->waited, &c->waited);
	process_free(c);
}

int proc_wait(struct process *p, struct ipc_message *m)
{
	int32_t pid = (int32_t)m->word[0];
	struct process *c = child_wanted(p, pid);

	if (!c)
		return -ECHILD;
	if (c->state == PROCESS_ZOMBIE) {
		zombie_tell(c, m);
		zombie_bury(p, c);
		return OK;
	}
	if (m->word[1] & WAIT_NOHANG) {
		m->word[0] = 0;
		m->data_bytes = 0;
		return OK;
	}
	p->wait_token = m->token;
	p->wait_pid = pid > 0 ? pid : -1;
	return NO_REPLY;
}

/* Zombie `c` has a parent: if that waits for it, answer. The answer may fail, when
 * the parent was killed meanwhile; then the zombie goes to init with the others. */
static void parent_wake(struct process *c)
{
	struct process *p = process_find(c->parent);
	struct ipc_message m = { .label = OK };
	uint32_t token;

	if (!p || p->wait_token == 0 || (p->wait_pid > 0 && p->wait_pid != c->pid))
		return;
	token = p->wait_token;
	p->wait_token = 0;
	zombie_tell(c, &m);
	if (proc_reply(token, &m) >= 0)
		zombie_bury(p, c);
}

static void init_died(const struct process *p)
{
	proc_log("init has died:", p, (uint32_t)p->status);
	sys_exit(TASK_STATUS_EXIT(1));	/* the kernel panics when proc ends */
}

static void process_ended(struct process *p, const struct abi_reaped *dead)
{
	struct process *init = process_find(PID_INIT);

	p->state = PROCESS_ZOMBIE;
	p->status = dead->status;
	p->own = dead->usage;
	p->wait_token = 0;
	if (p->pid == PID_INIT)
		init_died(p);
	while (p->children) {
		struct process *c = p->children;

		process_adopt(c, init);
		if (c->state == PROCESS_ZOMBIE)
			parent_wake(c);
	}
	parent_wake(p);
}

/* The next task that has ended: 1, or 0. A page of ours may be missing and no memory there to
 * bring it back: somebody's death is never forgotten for that. */
static int reap_one(struct abi_reaped *dead)
{
	int got = -EFAULT;

	for (unsigned i = 0; i < REAP_TRIES && got < 0; i++) {
		got = sys_task_reap(dead);
		if (got < 0)
			sys_yield();
	}
	return got > 0;
}

void proc_reap(void)
{
	struct abi_reaped dead;

	while (reap_one(&dead)) {
		struct process *p = process_find(dead.pid);

		if (p && p->state == PROCESS_ALIVE)
			process_ended(p, &dead);
	}
}

static int ignored(int sig)
{
	return sig == SIG_CHLD || sig == SIG_CONT || sig == SIG_URG || sig == SIG_WINCH;
}

static int signal_one(struct process *to, int sig)
{
	if (to->pid == PID_INIT && sig != 0)
		return -EPERM;
	if (sig == 0 || ignored(sig) || to->state == PROCESS_ZOMBIE)
		return OK;
	return sys_task_control(to->pid, TASK_CTL_KILL, TASK_STATUS_SIGNAL(sig));
}

/* Everybody but init and the caller. */
static int signal_all(struct process *but, int sig)
{
	int found = 0;

	for (unsigned i = 0; i < PROC_MAX; i++) {
		struct process *p = process_row(i);

		if (p->state != PROCESS_ALIVE || p == but || p->pid == PID_INIT)
			continue;
		signal_one(p, sig);
		found = 1;
	}
	return found ? OK : -ESRCH;
}

int proc_kill(struct process *p, struct ipc_message *m)
{
	int32_t pid = (int32_t)m->word[0];
	uint32_t sig = m->word[1];
	struct process *to;

	if (sig > SIG_MAX)
		return -EINVAL;
	m->data_bytes = 0;
	if (pid == -1)
		return signal_all(p, (int)sig);
	to = process_find(pid);
	return to ? signal_one(to, (int)sig) : -ESRCH;
}

/* No handlers yet: an exception, which the kernel has logged, ends the process. Its token
 * is void by that. */
int proc_exception(struct process *p, struct ipc_message *m)
{
	int error;

	error = sys_task_control(p->pid, TASK_CTL_KILL, TASK_STATUS_SIGNAL(m->word[0]));
	return error < 0 ? error : NO_REPLY;
}

int proc_start_init(void)
{
	static char *const argv[] = { "/bin/init", NULL };
	static char *const envp[] = { "PATH=/bin", "HOME=/", "TERM=dumb", NULL };
	static char image[256];
	size_t size = stack_image_size(argv, envp);
	struct abi_exec exec = { .name = "init" };
	struct file_name file;
	struct process *init;
	int object, error = name_find(&file, "/bin/init");

	if (error != OK)
		return error;
	object = sys_object_create(1);
	if (object < 0)
		return object;
	stack_image_build(image, size, argv, envp);
	error = sys_object_write(object, 0, image, size);
	if (error >= 0)
		error = program_load(&exec, &file, object, size);
	sys_handle_close(object);
	if (error < 0)
		return error;
	init = process_alloc(NULL);
	return sys_task_create(init->pid, &exec);
}
