/* Messages: sizes, bad handles, dead peers, handles on the way, notifications. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { LABEL_STOP = 1, LABEL_SUM = 2, LABEL_SILENT = 3, LABEL_DIE = 4, LABEL_HANDLE = 5,
       LABEL_FLIP = 6 };

static char buffer[8192];

/* What the server does with one call. */
static void serve_one(struct ipc_message *m)
{
	uint32_t sum = 0;
	char *data = (char *)m->data;

	for (uint32_t i = 0; i < m->data_bytes; i++)
		sum += (unsigned char)data[i];
	m->word[1] = m->data_bytes;
	m->word[2] = (uint32_t)m->sender_pid;
	if (m->label == LABEL_FLIP)
		for (uint32_t i = 0; i < m->data_bytes; i++)
			data[i] = (char)~data[i];
	else
		m->data_bytes = 0;
	if (m->label == LABEL_HANDLE) {
		m->word[3] = (uint32_t)sys_object_size(m->handle[0]);
		sys_object_write(m->handle[0], 0, "hello", 5);
	}
	m->word[0] = sum;
}

static void serve(int endpoint)
{
	static char data[IPC_DATA_BYTES];
	struct ipc_message m;

	for (;;) {
		memset(&m, 0, sizeof(m));
		m.data = (uint32_t)data;
		m.reply_room = sizeof(data);
		if (sys_ipc_receive(endpoint, &m) < 0)
			_exit(1);
		if (m.label == LABEL_DIE)
			_exit(0);
		if (m.label == LABEL_SILENT)
			continue;
		serve_one(&m);
		if (m.label != LABEL_HANDLE)
			m.handle_count = 0;
		sys_ipc_reply(m.token, &m);
		if (m.label == LABEL_STOP)
			_exit(0);
	}
}

static pid_t server_start(int endpoint)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		serve(endpoint);
	return pid;
}

static int call(int endpoint, uint32_t label, uint32_t bytes, struct ipc_message *m)
{
	memset(m, 0, sizeof(*m));
	m->label = label;
	m->data = (uint32_t)buffer;
	m->data_bytes = bytes;
	m->reply_room = sizeof(buffer) < IPC_DATA_BYTES ? sizeof(buffer) : IPC_DATA_BYTES;
	return sys_ipc_call(endpoint, m);
}

static void sizes(int endpoint)
{
	static const struct {
		uint32_t bytes;
		const char *name;
	} good[] = { { 0, "ipc-size-01" }, { 1, "ipc-size-02" }, { 4, "ipc-size-03" },
		     { 4095, "ipc-size-04" }, { 4096, "ipc-size-05" } };
	struct ipc_message m;

	memset(buffer, 3, sizeof(buffer));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int error = call(endpoint, LABEL_SUM, good[i].bytes, &m);

		tap_case(error >= 0 && m.word[0] == 3 * good[i].bytes && m.word[1] == good[i].bytes,
			 good[i].name, "that many bytes arrive");
	}
	tap_equal(m.word[2], (uint32_t)getpid(), "ipc-sender-01", "the kernel says who called");
	tap_case(call(endpoint, LABEL_SUM, 4097, &m) < 0, "ipc-size-06", "4097 bytes are too many");
	call(endpoint, LABEL_FLIP, 4096, &m);
	tap_case(m.data_bytes == 4096 && buffer[0] == ~3 && buffer[4095] == ~3, "ipc-size-07",
		 "a page comes back changed");
}

static void bad_calls(int endpoint)
{
	struct ipc_message m;

	memset(&m, 0, sizeof(m));
	tap_equal(sys_ipc_call(1, &m), -EBADF, "ipc-bad-01", "a descriptor is no endpoint");
	tap_equal(sys_ipc_call(HANDLE_SYSTEM_FIRST + 99, &m), -EBADF, "ipc-bad-02", "no such handle");
	tap_equal(sys_ipc_call(endpoint, (void *)0xc0100000u), -EFAULT, "ipc-bad-03",
		  "a message in the kernel");
	tap_equal(sys_ipc_call(endpoint, (void *)8), -EFAULT, "ipc-bad-04", "a message in page 0");
	m.data = 0x30000000u;
	m.data_bytes = 16;
	tap_equal(sys_ipc_call(endpoint, &m), -EFAULT, "ipc-bad-05", "data in a hole");
	memset(&m, 0, sizeof(m));
	m.handle_count = IPC_HANDLES + 1;
	tap_case(sys_ipc_call(endpoint, &m) < 0, "ipc-bad-06", "too many handles");
	m.handle_count = 1;
	m.handle[0] = 999;
	tap_equal(sys_ipc_call(endpoint, &m), -EBADF, "ipc-bad-07", "a handle that isn't");
	memset(&m, 0, sizeof(m));
	tap_equal(sys_ipc_reply(0x12340001u, &m), -ESRCH, "ipc-bad-08", "a token that isn't");
	tap_equal(sys_ipc_reply(0, &m), -ESRCH, "ipc-bad-09", "token 0");
	tap_case(sys_ipc_receive(HANDLE_PROC, &m) < 0, "ipc-bad-10", "proc's calls are proc's");
	tap_case(sys_ipc_notify(1, 1) < 0, "ipc-bad-11", "a descriptor takes no notification");
}

/* The server's side. */
static void bad_receives(void)
{
	struct ipc_message m = { 0 };
	int own = sys_endpoint_create();

	tap_equal(sys_ipc_receive(1, &m), -EBADF, "ipc-bad-12", "receive from a descriptor");
	tap_equal(sys_ipc_receive(own, (void *)0xc0100000u), -EFAULT, "ipc-bad-13",
		  "receive into the kernel");
	tap_equal(sys_ipc_reply_receive(0, 1, &m), -EBADF, "ipc-bad-14", "reply and receive from one");
	tap_equal(sys_ipc_reply_receive(0, own, (void *)8), -EFAULT, "ipc-bad-15", "into page 0");
	m.handle_count = 1;
	m.handle[0] = 999;
	tap_equal(sys_ipc_reply_receive(0, own, &m), -EBADF, "ipc-bad-16", "with a handle that isn't");
	memset(&m, 0, sizeof(m));
	tap_equal(sys_ipc_notify(own, 0x40), 0, "ipc-bad-17", "after all that");
	tap_case(sys_ipc_reply_receive(0x12340001u, own, &m) >= 0 && m.word[0] == 0x40, "ipc-bad-18",
		 "a void token is no error: the server goes on");
	sys_handle_close(own);
}

static void handles(int endpoint)
{
	struct ipc_message m;
	int object = sys_object_create(3);
	char text[6] = "";

	memset(&m, 0, sizeof(m));
	m.label = LABEL_HANDLE;
	m.handle_count = 1;
	m.handle[0] = object;
	tap_case(sys_ipc_call(endpoint, &m) >= 0, "ipc-handle-01", "an object goes over");
	tap_equal((long)m.word[3], 3 * 4096, "ipc-handle-02", "the server sees its size");
	sys_object_read(object, 0, text, 5);
	tap_case(strcmp(text, "hello") == 0, "ipc-handle-03", "and writes into it");
	tap_case(m.handle_count == 1 && m.handle[0] != object && sys_object_size(m.handle[0]) == 12288,
		 "ipc-handle-04", "it comes back as one more handle");
	sys_handle_close(m.handle[0]);
	sys_handle_close(object);
}

static void dies_before(void *arg)
{
	(void)arg;
	_exit(0);
}

/* A call to an endpoint whose only holder of the right to receive goes away. */
static void dead_peers(void)
{
	struct ipc_message m;
	int endpoint = sys_endpoint_create();
	pid_t pid = server_start(endpoint);

	call(endpoint, LABEL_SUM, 0, &m);
	tap_equal(call(endpoint, LABEL_DIE, 0, &m), -EPIPE, "ipc-dead-01",
		  "the server dies with the call in its hands");
	waitpid(pid, NULL, 0);
	sys_handle_close(endpoint);
	tap_equal(sys_ipc_call(endpoint, &m), -EBADF, "ipc-dead-02", "a closed endpoint");
	tap_equal(tap_child(dies_before, NULL), TAP_EXITS(0), "ipc-dead-03", "nothing hangs");
}

static void silent_call(void *arg)
{
	struct ipc_message m;

	call(*(int *)arg, LABEL_SILENT, 0, &m);
}

/* A caller that waits for an answer is killed; the server goes on. */
static void killed_caller(int endpoint)
{
	struct ipc_message m;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		silent_call(&endpoint);
		_exit(0);
	}
	sys_sleep(5000000, 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	tap_equal(status, TAP_KILLED(SIGKILL), "ipc-kill-01", "SIGKILL ends a caller that waits");
	tap_case(call(endpoint, LABEL_SUM, 1, &m) >= 0, "ipc-kill-02", "the server serves others");
}

static void notifications(void)
{
	struct ipc_message m;
	int endpoint = sys_endpoint_create();

	memset(&m, 0, sizeof(m));
	tap_case(sys_ipc_notify(endpoint, 1) >= 0 && sys_ipc_notify(endpoint, 4) >= 0,
		 "ipc-notify-01", "two notifications, nobody waits");
	tap_case(sys_ipc_receive(endpoint, &m) >= 0 && m.label == IPC_LABEL_NOTIFY && m.token == 0,
		 "ipc-notify-02", "one receive gets them");
	tap_equal((long)m.word[0], 5, "ipc-notify-03", "both bits");
	fflush(stdout);
	if (fork() == 0) {
		sys_sleep(1000000, 0);
		sys_ipc_notify(endpoint, 8);
		_exit(0);
	}
	tap_case(sys_ipc_receive(endpoint, &m) >= 0 && m.word[0] == 8, "ipc-notify-04",
		 "a receiver that waits is woken");
	wait(NULL);
	sys_handle_close(endpoint);
}

int main(void)
{
	struct ipc_message m;
	int endpoint = sys_endpoint_create();
	pid_t pid = server_start(endpoint);

	sizes(endpoint);
	bad_calls(endpoint);
	bad_receives();
	handles(endpoint);
	killed_caller(endpoint);
	call(endpoint, LABEL_STOP, 0, &m);
	waitpid(pid, NULL, 0);
	dead_peers();
	notifications();
	return tap_done();
}
