/* Commands that the shell carries out itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <clockhand.h>
#include "user/sh/sh.h"

static int do_true(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 0;
}

static int do_false(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 1;
}

static int do_cd(int argc, char **argv)
{
	const char *to = argc > 1 ? argv[1] : getenv("HOME");

	if (chdir(to ? to : "/") == 0)
		return 0;
	sh_error(argc > 1 ? argv[1] : "cd", strerror(errno));
	return 1;
}

static int do_pwd(int argc, char **argv)
{
	char path[256];

	(void)argc, (void)argv;
	if (!getcwd(path, sizeof(path)))
		return 1;
	puts(path);
	return 0;
}

static int do_echo(int argc, char **argv)
{
	int newline = 1, i = 1;

	if (argc > 1 && strcmp(argv[1], "-n") == 0) {
		newline = 0;
		i++;
	}
	for (; i < argc; i++)
		printf("%s%s", argv[i], i + 1 < argc ? " " : "");
	if (newline)
		putchar('\n');
	return 0;
}

static int do_exit(int argc, char **argv)
{
	shell.leaving = 1;
	return argc > 1 ? atoi(argv[1]) & 0xff : shell.status;
}

/* wait [pid]: for that child, or for all. */
static int do_wait(int argc, char **argv)
{
	int status;

	if (argc > 1) {
		status = sh_wait(atoi(argv[1]));
		return status < 0 ? STATUS_NOT_FOUND : status;
	}
	while (sh_wait(-1) >= 0)
		continue;
	return 0;
}

/* Every variable of this shell is in the environment: export only assigns. */
static int do_export(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (!equals)
			continue;
		*equals = '\0';
		setenv(argv[i], equals + 1, 1);
	}
	return 0;
}

static int do_unset(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		unsetenv(argv[i]);
	return 0;
}

static int do_poweroff(int argc, char **argv)
{
	fflush(NULL);
	sys_machine(MACHINE_POWEROFF, argc > 1 ? (uint32_t)atoi(argv[1]) & 0xff : 0);
	return 1;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} builtins[] = {
	{ ":", do_true }, { "true", do_true }, { "false", do_false }, { "cd", do_cd },
	{ "pwd", do_pwd }, { "echo", do_echo }, { "exit", do_exit }, { "wait", do_wait },
	{ "export", do_export }, { "unset", do_unset }, { "poweroff", do_poweroff },
	{ "ulimit", sh_ulimit },
};

int sh_builtin(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
		int status;

		if (strcmp(argv[0], builtins[i].name) != 0)
			continue;
		status = builtins[i].run(argc, argv);
		fflush(stdout);
		return status;
	}
	return -1;
}
