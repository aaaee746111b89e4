/*
 * init, process 1: runs the runner's command (/etc/command) and switches the machine
 * off with its status; without one, runs /etc/rc and then a shell on the console.
 * Meanwhile it buries orphans.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <clockhand.h>

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128,
       COMMAND_WORDS_MAX = 256 };

/* On the console; in the kernel's log if there is none. */
static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		sys_log(text, strlen(text));
}

/* The whole file with a NUL behind it, or NULL. */
static char *file_read(const char *path, size_t *bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	char *text;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !(text = malloc((size_t)st.st_size + 1)))
		return NULL;
	n = read(fd, text, (size_t)st.st_size);
	close(fd);
	if (n < 0)
		return NULL;
	text[n] = '\0';
	*bytes = (size_t)n;
	return text;
}

/* Cut NUL-ended words into argv[]. Returns how many. */
static int words_split(char *argv[COMMAND_WORDS_MAX + 1], char *text, size_t bytes)
{
	int count = 0;

	for (size_t at = 0; at < bytes && count < COMMAND_WORDS_MAX; at += strlen(text + at) + 1)
		argv[count++] = text + at;
	argv[count] = NULL;
	return count;
}

static void exec_or_exit(char *const argv[])
{
	execvp(argv[0], argv);
	say(argv[0]);
	if (errno == ENOENT) {
		say(": not found\n");
		_exit(STATUS_NOT_FOUND);
	}
	say(": ");
	say(strerror(errno));
	say("\n");
	_exit(STATUS_NOT_EXECUTABLE);
}

/* Run a program to its end, burying orphans that end meanwhile. Its status as a
 * shell would give it. */
static int run(char *const argv[])
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		exec_or_exit(argv);
	if (pid < 0) {
		say("init: cannot fork\n");
		return STATUS_NOT_EXECUTABLE;
	}
	for (pid_t ended = 0; ended != pid; ) {
		ended = wait(&status);
		if (ended < 0)
			return STATUS_NOT_EXECUTABLE;
	}
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_shell(void)
{
	char *const rc[] = { "sh", "/etc/rc", NULL };
	char *const shell[] = { "sh", NULL };

	if (access("/etc/rc", R_OK) == 0)
		run(rc);
	else
		say("\nClockhand. `ls /bin` lists what there is; `poweroff` ends it.\n");
	return run(shell);
}

int main(void)
{
	char *argv[COMMAND_WORDS_MAX + 1], *text;
	size_t bytes = 0;
	int status;

	text = file_read("/etc/command", &bytes);
	if (text && words_split(argv, text, bytes) > 0)
		status = run(argv);
	else
		status = run_shell();
	sys_machine(MACHINE_POWEROFF, (uint32_t)status);
	return status;
}
