/* Running lists of commands. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "user/sh/sh.h"

static int status_of(int status)
{
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Tell of a process that a signal ended, unless it was asked to end. */
static void signal_tell(int pid, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM)
		fprintf(stderr, "sh: process %d: %s\n", pid, strsignal(WTERMSIG(status)));
}

int sh_wait(int pid)
{
	int status;
	pid_t ended = waitpid(pid, &status, 0);

	if (ended < 0)
		return -1;
	signal_tell(ended, status);
	return status_of(status);
}

static void exec_or_exit(char **argv)
{
	int status = STATUS_NOT_EXECUTABLE;

	execvp(argv[0], argv);
	if (errno == ENOENT) {
		sh_error(argv[0], "not found");
		status = STATUS_NOT_FOUND;
	} else {
		sh_error(argv[0], strerror(errno));
	}
	_exit(status);
}

static int exec_in_place;	/* this process was forked for one command and becomes it */

static int run_program(char **argv)
{
	pid_t pid;

	fflush(NULL);
	if (exec_in_place)
		exec_or_exit(argv);
	pid = fork();
	if (pid < 0) {
		sh_error(argv[0], strerror(errno));
		return STATUS_NOT_EXECUTABLE;
	}
	if (pid == 0)
		exec_or_exit(argv);
	return sh_wait(pid);
}

/* Carry out the assignments at the head of a command. Returns how many. */
static int assign(const struct token *t, int count)
{
	int i = 0;

	for (size_t n; i < count && (n = sh_assignment(&t[i])) > 0; i++) {
		char *name = strndup(t[i].text, n);
		char *value = sh_expand_one(t[i].text + n + 1, t[i].length - n - 1);

		setenv(name, value, 1);
		free(name);
		free(value);
	}
	return i;
}

/* One command: `count` words. `exec` in front replaces the shell. */
static int run_words(const struct token *t, int count)
{
	char *argv[SH_WORDS_MAX + 1];
	int argc = 0, status, done = assign(t, count);

	for (int i = done; i < count; i++) {
		if (sh_expand(&t[i], argv, &argc) < 0) {
			sh_error("syntax", "too many words");
			return STATUS_SYNTAX;
		}
	}
	argv[argc] = NULL;
	if (argc == 0)
		return 0;
	if (strcmp(argv[0], "exec") == 0 && argc > 1)
		exec_or_exit(argv + 1);
	status = sh_builtin(argc, argv);
	if (status < 0)
		status = run_program(argv);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	return status;
}

static int syntax_error(const struct token *t)
{
	char near[24];
	size_t n = t->length < sizeof(near) - 1 ? t->length : sizeof(near) - 1;

	memcpy(near, t->text, n);
	near[n] = '\0';
	sh_error("syntax error near", t->kind == TOKEN_END ? "the end" : *near == '\n' ? "newline" : near);
	shell.status = STATUS_SYNTAX;
	return -1;
}

/* and_or at t[0]: runs it if `active`. How many tokens it took, or -1. */
static int run_and_or(const struct token *t, int active)
{
	int at = 0, skip = !active;

	for (;;) {
		int negate = 0, words = 0;

		for (; t[at].kind == TOKEN_NOT; at++)
			negate = !negate;
		while (t[at + words].kind == TOKEN_WORD)
			words++;
		if (words == 0)
			return syntax_error(&t[at]);
		if (!skip && !shell.leaving) {
			int status = run_words(&t[at], words);

			shell.status = negate ? !status : status;
		}
		at += words;
		if (t[at].kind != TOKEN_AND && t[at].kind != TOKEN_OR)
			return at;
		if (active)
			skip = (t[at].kind == TOKEN_AND) != (shell.status == 0);
		for (at++; t[at].kind == TOKEN_SEMI && *t[at].text == '\n'; at++)
			continue;
	}
}

/* Is t, up to its "&", one command and nothing else? */
static int is_one_command(const struct token *t)
{
	while (t->kind == TOKEN_WORD)
		t++;
	return t->kind == TOKEN_AMP;
}

/* Run t, up to its "&", in a process of its own: the program's own one if it is a single
 * command, so that `kill $!` ends it. */
static void run_background(const struct token *t)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		shell.interactive = 0;
		exec_in_place = is_one_command(t);
		run_and_or(t, 1);
		fflush(NULL);
		_exit(shell.status);
	}
	if (pid < 0) {
		sh_error("&", strerror(errno));
		shell.status = STATUS_NOT_EXECUTABLE;
		return;
	}
	shell.background = pid;
	shell.status = 0;
	if (shell.interactive)
		fprintf(stderr, "[%d]\n", pid);
}

void sh_run(const char *text)
{
	struct token *tokens = malloc(SH_TOKENS_MAX * sizeof(*tokens));
	const struct token *t = tokens;

	if (!tokens || sh_tokenise(tokens, text) < 0) {
		shell.status = STATUS_SYNTAX;
		free(tokens);
		return;
	}
	while (t->kind != TOKEN_END && !shell.leaving) {
		int length;

		if (t->kind == TOKEN_SEMI) {
			t++;
			continue;
		}
		length = run_and_or(t, 0);
		if (length < 0)
			break;
		if (t[length].kind == TOKEN_AMP)
			run_background(t);
		else
			run_and_or(t, 1);
		t += length + (t[length].kind != TOKEN_END);
	}
	free(tokens);
}
