/*
 * The proc server: knows which processes there are, who is whose child, what they
 * run, and how they ended. The kernel knows tasks by pid and nothing of this.
 *
 * One thread takes one message after another and never waits for anybody: a wait()
 * without a finished child stays pending as a token in the table. No heap; the
 * table and the message buffer are all the memory there is.
 */
#include <string.h>
#include "kernel/abi/errno.h"
#include "user/servers/proc.h"
#include "user/servers/proc_internal.h"

int proc_main(void);

char message_data[IPC_DATA_BYTES + 4] __attribute__((aligned(8)));
uint32_t message_handles;
bool words_will_do;

static const proc_handler handlers[] = {
	[PROC_FORK] = proc_fork, [PROC_EXEC] = proc_exec, [PROC_WAIT] = proc_wait,
	[PROC_KILL] = proc_kill, [PROC_IDS] = proc_ids, [PROC_TIMES] = proc_times,
	[PROC_CHDIR] = proc_chdir, [PROC_GETCWD] = proc_getcwd, [PROC_OPEN] = proc_open,
	[PROC_STAT] = proc_stat, [PROC_READDIR] = proc_readdir, [PROC_PARENTS] = proc_parents,
};

static char *append(char *to, const char *end, const char *text)
{
	while (*text && to < end)
		*to++ = *text++;
	return to;
}

static char *append_number(char *to, const char *end, uint32_t value)
{
	char digits[11], *d = digits + sizeof(digits) - 1;

	*d = '\0';
	do
		*--d = (char)('0' + value % 10);
	while (value /= 10);
	return append(to, end, d);
}

void proc_log(const char *text, const struct process *p, uint32_t value)
{
	char line[96], *at = line;
	const char *end = line + sizeof(line) - 1;

	at = append(at, end, text);
	at = append(append_number(append(at, end, " "), end, (uint32_t)p->pid), end, " (");
	at = append(append(at, end, p->name), end, ") ");
	at = append_number(at, end, value);
	sys_log(line, (size_t)(at - line));
}

void handle_drop(int handle)
{
	if (handle < HANDLE_SYSTEM_FIRST)
		sys_close(handle);
	else
		sys_handle_close(handle);
}

static int dispatch(struct ipc_message *m)
{
	struct process *p = process_find(m->sender_pid);

	if (!p)
		return -ESRCH;
	if (m->label == IPC_LABEL_EXCEPTION)
		return proc_exception(p, m);
	if (m->label >= sizeof(handlers) / sizeof(handlers[0]) || !handlers[m->label])
		return -ENOSYS;
	return handlers[m->label](p, m);
}

/* The reply without what needs memory. If it went out already and it was receiving that
 * failed, the token is void, and nobody gets this. */
static int reply_poorly(uint32_t token, struct ipc_message *m)
{
	if (!words_will_do)
		m->label = (uint32_t)-ENOMEM;
	m->data_bytes = 0;
	m->handle_count = 0;
	return sys_ipc_reply(token, m);
}

int proc_reply(uint32_t token, struct ipc_message *m)
{
	int error = sys_ipc_reply(token, m);

	if (error < 0 && error != -ESRCH)
		error = reply_poorly(token, m);
	words_will_do = false;
	return error;
}

/* Answer one call. Returns its token if the answer is in *m and still to be sent,
 * else 0. */
static uint32_t serve(struct ipc_message *m)
{
	uint32_t token = m->token;
	int32_t handles[IPC_HANDLES];
	int label;

	message_handles = m->handle_count;
	memcpy(handles, m->handle, sizeof(handles));
	message_data[m->data_bytes <= IPC_DATA_BYTES ? m->data_bytes : 0] = '\0';
	m->handle_count = 0;
	label = dispatch(m);
	for (uint32_t i = 0; i < message_handles; i++)
		handle_drop(handles[i]);
	if (label == NO_REPLY)
		return 0;
	m->label = (uint32_t)label;
	if (label < 0)
		m->data_bytes = 0;
	if (m->handle_count == 0)
		return token;
	/* A handle that goes out is ours no more once it went. */
	proc_reply(token, m);
	handle_drop(m->handle[0]);
	return 0;
}

int proc_main(void)
{
	static struct ipc_message m;
	uint32_t token = 0;
	int error = names_init();

	if (error == OK)
		error = proc_start_init();
	if (error < 0)
		return TASK_STATUS_EXIT(-error);
	for (;;) {
		m.data = (uint32_t)message_data;
		m.reply_room = IPC_DATA_BYTES;
		error = token ? sys_ipc_reply_receive(token, HANDLE_PROC, &m)
			      : sys_ipc_receive(HANDLE_PROC, &m);
		if (error < 0 && token)
			reply_poorly(token, &m);
		token = 0;
		words_will_do = false;
		if (error < 0)
			continue;
		if (m.token == 0) {
			if (m.word[0] & NOTIFY_TASK_DEAD)
				proc_reap();
			continue;
		}
		token = serve(&m);
	}
}
