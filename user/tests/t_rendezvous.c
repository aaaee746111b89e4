/* IPC where it goes wrong: callers killed in each state, memory that can't take a message,
 * replies out of order or twice, endpoints that die while others wait, cut data, handles of
 * all kinds on the way. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { MS = 1000000 };

/* In the program's text: can be read, can't be written. */
static const struct ipc_message frozen = { .label = 7, .word = { 70 } };
#define FROZEN ((struct ipc_message *)(uintptr_t)&frozen)

/* A child that calls `endpoint` with `word` and exits with what came of it: the first
 * word of the reply, or minus the error. */
static pid_t caller_start(int endpoint, uint32_t word)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct ipc_message m = { .label = 1, .word = { word } };
		int error = sys_ipc_call(endpoint, &m);

		_exit(error < 0 ? -error : (int)m.word[0]);
	}
	return pid;
}

static int exit_code(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void killed_while_queued(void)
{
	int endpoint = sys_endpoint_create();
	struct ipc_message m = { 0 };
	pid_t first = caller_start(endpoint, 1), second;

	sys_sleep(2 * MS, 0);
	second = caller_start(endpoint, 2);
	sys_sleep(2 * MS, 0);
	kill(first, SIGKILL);
	tap_equal(exit_code(first), -SIGKILL, "rdv-kill-01", "a queued caller dies at once");
	tap_equal(sys_ipc_receive(endpoint, &m), 0, "rdv-kill-02", "the next one is received");
	tap_equal((long)m.word[0], 2, "rdv-kill-03", "it is the one that lives");
	m.word[0] = 20;
	sys_ipc_reply(m.token, &m);
	tap_equal(exit_code(second), 20, "rdv-kill-04", "and gets its answer");
	sys_handle_close(endpoint);
}

static void killed_while_awaiting(void)
{
	int endpoint = sys_endpoint_create();
	struct ipc_message m = { 0 };
	pid_t pid = caller_start(endpoint, 1);
	uint32_t token;

	sys_ipc_receive(endpoint, &m);
	token = m.token;
	tap_case(token != 0 && m.sender_pid == pid, "rdv-await-01", "received");
	kill(pid, SIGKILL);
	tap_equal(exit_code(pid), -SIGKILL, "rdv-await-02", "an awaiting caller dies at once");
	tap_equal(sys_ipc_reply(token, &m), -ESRCH, "rdv-await-03", "its token is void");
	sys_ipc_notify(endpoint, 2);
	memset(&m, 0, sizeof(m));
	tap_case(sys_ipc_reply_receive(token, endpoint, &m) == 0 && m.word[0] == 2,
		 "rdv-await-04", "reply_receive goes on after a void token");
	sys_handle_close(endpoint);
}

static void bad_memory(void)
{
	int endpoint = sys_endpoint_create(), status = 0;
	struct ipc_message m = { 0 };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(-sys_ipc_call(endpoint, FROZEN));
	sys_ipc_receive(endpoint, &m);
	tap_equal((long)m.word[0], 70, "rdv-memory-01", "a message that can only be read is sent");
	tap_equal(sys_ipc_reply(m.token, &m), 0, "rdv-memory-02", "the server doesn't notice");
	waitpid(pid, &status, 0);
	tap_equal(WEXITSTATUS(status), EFAULT, "rdv-memory-03", "its caller can't get the reply");

	pid = caller_start(endpoint, 3);
	tap_equal(sys_ipc_receive(endpoint, FROZEN), -EFAULT, "rdv-memory-04",
		  "a receiver whose memory can't take the call");
	tap_equal(exit_code(pid), EPIPE, "rdv-memory-05", "the caller is told");
	sys_ipc_notify(endpoint, 0x40);
	tap_equal(sys_ipc_receive(endpoint, FROZEN), -EFAULT, "rdv-memory-06",
		  "nor a notification");
	tap_case(sys_ipc_receive(endpoint, &m) == 0 && m.word[0] == 0x40, "rdv-memory-07",
		 "whose bits stay");
	memset(&m, 0, sizeof(m));
	m.label = IPC_LABEL_EXCEPTION;
	tap_equal(sys_ipc_call(HANDLE_PROC, &m), -EINVAL, "rdv-memory-09",
		  "nobody speaks for the kernel");
	tap_equal(sys_ipc_receive(endpoint, (struct ipc_message *)0xbffffff0u), -EFAULT,
		  "rdv-memory-08", "a message across the end of user space");
	sys_handle_close(endpoint);
}

static void order(void)
{
	enum { CALLERS = 5 };
	int endpoint = sys_endpoint_create(), good = 1;
	struct ipc_message m = { 0 };
	uint32_t tokens[CALLERS], words[CALLERS];
	pid_t pids[CALLERS];

	for (uint32_t i = 0; i < CALLERS; i++) {
		pids[i] = caller_start(endpoint, i);
		sys_sleep(MS, 0);
	}
	for (int i = 0; i < CALLERS; i++) {
		sys_ipc_receive(endpoint, &m);
		tokens[i] = m.token;
		words[i] = m.word[0];
		good &= words[i] == (uint32_t)i;
	}
	tap_case(good, "rdv-order-01", "calls are received in the order of arrival");
	for (int i = CALLERS - 1; i >= 0; i--) {
		m.word[0] = 40 + words[i];
		good &= sys_ipc_reply(tokens[i], &m) == 0;
	}
	tap_case(good, "rdv-order-02", "and answered in another one");
	tap_equal(sys_ipc_reply(tokens[0], &m), -ESRCH, "rdv-order-03", "once only");
	for (int i = 0; i < CALLERS; i++)
		good &= exit_code(pids[i]) == 40 + i;
	tap_case(good, "rdv-order-04", "each gets the answer that is its own");
	sys_handle_close(endpoint);
}

/* A server makes its endpoint after the fork, so that it alone may receive, and sends us a
 * handle of it: that may only call. */
static int lonely_server(int way, pid_t *server)
{
	struct ipc_message m = { 0 };
	int endpoint;

	fflush(stdout);
	*server = fork();
	if (*server == 0) {
		m.handle_count = 1;
		m.handle[0] = sys_endpoint_create();
		endpoint = m.handle[0];
		sys_ipc_call(way, &m);
		sys_ipc_receive(endpoint, &m);		/* never answered */
		sys_sleep(50 * MS, 0);
		_exit(9);
	}
	sys_ipc_receive(way, &m);
	endpoint = m.handle[0];
	m.handle_count = 0;
	sys_ipc_reply(m.token, &m);
	return endpoint;
}

static void last_receiver(void)
{
	int way = sys_endpoint_create(), endpoint;
	struct ipc_message m = { 0 };
	pid_t server, received, queued;

	endpoint = lonely_server(way, &server);
	tap_equal(sys_ipc_receive(endpoint, &m), -EACCES, "rdv-last-01",
		  "the right to receive doesn't travel");
	received = caller_start(endpoint, 1);
	sys_sleep(5 * MS, 0);
	queued = caller_start(endpoint, 2);
	tap_equal(exit_code(server), 9, "rdv-last-02", "the server ends");
	tap_equal(exit_code(received), EPIPE, "rdv-last-03", "a received call fails");
	tap_equal(exit_code(queued), EPIPE, "rdv-last-04", "a queued one too");
	tap_equal(sys_ipc_call(endpoint, &m), -EPIPE, "rdv-last-05", "and every later one");
	tap_equal(sys_ipc_notify(endpoint, 1), -EPIPE, "rdv-last-06", "nor can one notify");
	sys_handle_close(endpoint);
	sys_handle_close(way);
}

/* The server dies with one call received and one queued. Both callers have their own
 * right to receive (fork), so only the received one is failed; it is failed at once. */
static void server_dies(void)
{
	int endpoint = sys_endpoint_create();
	struct ipc_message m = { 0 };
	pid_t server, first;

	fflush(stdout);
	server = fork();
	if (server == 0) {
		sys_ipc_receive(endpoint, &m);
		*(volatile int *)0 = 1;
	}
	sys_sleep(2 * MS, 0);
	first = caller_start(endpoint, 1);
	tap_equal(exit_code(server), -SIGSEGV, "rdv-server-01", "a server crashes");
	tap_equal(exit_code(first), EPIPE, "rdv-server-02", "its caller is told");
	sys_handle_close(endpoint);
}

static void cut_data(void)
{
	int endpoint = sys_endpoint_create();
	char here[64], text[] = "0123456789";
	struct ipc_message m = { 0 };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		m.data = (uint32_t)text;
		m.data_bytes = 10;
		m.reply_room = 4;
		sys_ipc_call(endpoint, &m);
		_exit(m.data_bytes == 8 && memcmp(text, "abcd456789", 10) == 0 ? 0 : 1);
	}
	memset(here, '.', sizeof(here));
	m.data = (uint32_t)here;
	m.reply_room = 3;
	sys_ipc_receive(endpoint, &m);
	tap_equal((long)m.data_bytes, 10, "rdv-cut-01", "the receiver is told how much was sent");
	tap_case(memcmp(here, "012.", 4) == 0, "rdv-cut-02", "and gets what fits");
	memcpy(here, "abcdefgh", 8);
	m.data_bytes = 8;
	sys_ipc_reply(m.token, &m);
	tap_equal(exit_code(pid), 0, "rdv-cut-03", "the same the other way");
	sys_handle_close(endpoint);
}

static void files_travel(void)
{
	int endpoint = sys_endpoint_create(), archive = sys_archive(0), fd, low;
	struct ipc_message m = { 0 };
	char magic[4] = "";
	pid_t pid;

	fd = sys_file_create(archive, 0, 4096);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		m.handle_count = 3;
		m.handle[0] = fd;
		m.handle[1] = archive;
		m.handle[2] = fd;
		_exit(sys_ipc_call(endpoint, &m) < 0);
	}
	low = dup(0);
	close(low);
	sys_ipc_receive(endpoint, &m);
	tap_equal((long)m.handle_count, 3, "rdv-files-01", "three handles");
	tap_equal(m.handle[0], low, "rdv-files-02", "a file arrives as the lowest descriptor");
	tap_case(m.handle[1] >= HANDLE_SYSTEM_FIRST, "rdv-files-03", "an object as a system handle");
	tap_case(read(m.handle[0], magic, 4) == 4 && memcmp(magic, "1KCA", 4) == 0,
		 "rdv-files-04", "the file can be read");
	tap_case(read(m.handle[2], magic, 4) == 4 && memcmp(magic, "1KCA", 4) != 0,
		 "rdv-files-05", "both descriptors share one offset");
	close(m.handle[0]);
	close(m.handle[2]);
	sys_handle_close(m.handle[1]);
	m.handle_count = 0;
	sys_ipc_reply(m.token, &m);
	tap_equal(exit_code(pid), 0, "rdv-files-06", "answered");
	close(fd);
	sys_handle_close(archive);
	sys_handle_close(endpoint);
}

/* Descriptors of the receiver are all in use: the call fails, nothing is left over. */
static void no_room_for_handles(void)
{
	int endpoint = sys_endpoint_create(), last = 0, fd;
	struct ipc_message m = { 0 };
	pid_t pid;

	while ((fd = dup(0)) >= 0)
		last = fd;
	tap_equal(errno, EMFILE, "rdv-full-01", "there is a limit to descriptors");
	tap_equal(last, HANDLE_FD_MAX - 1, "rdv-full-02", "it is the last number");
	close(last);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		m.handle_count = 2;		/* one fits, two don't */
		_exit(-sys_ipc_call(endpoint, &m));
	}
	tap_equal(sys_ipc_receive(endpoint, &m), -EMFILE, "rdv-full-03", "the receiver is told");
	tap_equal(exit_code(pid), EMFILE, "rdv-full-04", "the caller too");
	tap_equal(dup(0), last, "rdv-full-05", "and the free number is free again");
	for (fd = 3; fd <= last; fd++)
		close(fd);
	sys_handle_close(endpoint);
}

int main(void)
{
	killed_while_queued();
	killed_while_awaiting();
	bad_memory();
	order();
	last_receiver();
	server_dies();
	cut_data();
	files_travel();
	no_room_for_handles();
	return tap_done();
}
