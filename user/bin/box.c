/* clockbox: finds the command by the name it was called with, or by its first argument. */
#include <stdio.h>
#include <string.h>
#include <clockhand.h>
#include "user/bin/box.h"

static const struct {
	const char *name;
	box_command run;
} commands[] = {
	{ "audit", box_audit }, { "cat", box_cat }, { "counters", box_counters },
	{ "dropcaches", box_dropcaches }, { "echo", box_echo }, { "false", box_false }, { "fault", box_fault },
	{ "free", box_free }, { "hexdump", box_hexdump }, { "kill", box_kill },
	{ "leaks", box_leaks },
	{ "ls", box_ls }, { "params", box_params }, { "poweroff", box_poweroff },
	{ "ps", box_ps }, { "pwd", box_pwd }, { "sleep", box_sleep },
	{ "swapoff", box_swapoff }, { "swapon", box_swapon }, { "time", box_time },
	{ "trace", box_trace }, { "true", box_true }, { "uname", box_uname },
	{ "vmstat", box_vmstat },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const char *command_name = "clockbox";

int box_error(const char *what, int error)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s: %s\n", command_name, what, strerror(error));
	return 1;
}

int box_usage(const char *text)
{
	fprintf(stderr, "usage: %s %s\n", command_name, text);
	return 2;
}

int box_sysinfo(int what, void *buffer, unsigned bytes)
{
	int n = sys_sysinfo(what, buffer, bytes);

	if (n < 0) {
		box_error("sysinfo", -n);
		return -1;
	}
	return n;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(last_part(argv[0]), "clockbox") == 0) {
		argc--;
		argv++;
	}
	if (argc > 0)
		command_name = last_part(argv[0]);
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(command_name, commands[i].name) == 0)
			return commands[i].run(argc, argv);
	fprintf(stderr, "clockbox: no command \"%s\"; there are:", command_name);
	for (int i = 0; i < COMMANDS; i++)
		fprintf(stderr, " %s", commands[i].name);
	fprintf(stderr, "\n");
	return 127;
}
