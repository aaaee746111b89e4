/* The small shell: sh [-c COMMANDS | FILE [ARG...]], or lines from the console. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "user/sh/sh.h"

struct shell shell = { .name = "sh" };

void sh_error(const char *what, const char *why)
{
	fflush(stdout);
	fprintf(stderr, "sh: %s: %s\n", what, why);
}

/* The whole of a script, from malloc; NULL after a message. */
static char *script_read(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *text = NULL;
	ssize_t n = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && (text = malloc((size_t)st.st_size + 1)))
		n = read(fd, text, (size_t)st.st_size);
	if (n < 0) {
		sh_error(path, strerror(errno));
		free(text);
		return NULL;
	}
	close(fd);
	text[n] = '\0';
	return text;
}

static int run_script(const char *path)
{
	char *text = script_read(path);

	if (!text)
		return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	sh_run(text);
	return shell.status;
}

/* Bury background processes that have ended, so that they don't pile up. */
static void bury(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		fprintf(stderr, "[%d] ended\n", pid);
}

static int run_console(void)
{
	static char line[SH_LINE_MAX];

	shell.interactive = 1;
	while (!shell.leaving && sh_read_line(line, sizeof(line), "clockhand$ ") >= 0) {
		sh_run(line);
		bury();
	}
	return shell.status;
}

int main(int argc, char **argv)
{
	static char *const none[] = { NULL };

	shell.arguments = none;
	if (argc > 2 && strcmp(argv[1], "-c") == 0) {
		if (argc > 3) {
			shell.name = argv[3];
			shell.arguments = argv + 4;
		}
		sh_run(argv[2]);
		return shell.status;
	}
	if (argc > 1) {
		shell.name = argv[1];
		shell.arguments = argv + 2;
		return run_script(argv[1]);
	}
	return run_console();
}
