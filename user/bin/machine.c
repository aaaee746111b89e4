/* Commands about the machine as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <clockhand.h>
#include "user/bin/box.h"

enum { TEXT_BYTES = 8192, TRACE_DEFAULT = 32 };

int box_poweroff(int argc, char **argv)
{
	int error = sys_machine(MACHINE_POWEROFF, argc > 1 ? (uint32_t)atoi(argv[1]) & 0xff : 0);

	return box_error("machine", -error);
}

int box_audit(int argc, char **argv)
{
	int n = sys_machine(MACHINE_AUDIT, 0);

	(void)argc, (void)argv;
	if (n < 0)
		return box_error("machine", -n);
	printf("audit: %d violation%s\n", n, n == 1 ? "" : "s");
	return n > 0;
}

int box_dropcaches(int argc, char **argv)
{
	int error = sys_machine(MACHINE_DROP_CACHES, 0);

	(void)argc, (void)argv;
	return error < 0 ? box_error("machine", -error) : 0;
}

int box_trace(int argc, char **argv)
{
	int error = sys_machine(MACHINE_TRACE, argc > 1 ? (uint32_t)atoi(argv[1]) : TRACE_DEFAULT);

	return error < 0 ? box_error("machine", -error) : 0;
}

/* Print the "name value" text `what`; of it only the names given, if any are. */
static int text_print(int what, int argc, char **argv)
{
	static char text[TEXT_BYTES];
	int n = box_sysinfo(what, text, sizeof(text) - 1);

	if (n < 0)
		return 1;
	text[n] = '\0';
	if (argc == 1)
		fwrite(text, 1, (size_t)n, stdout);
	for (int i = 1; i < argc; i++)
		printf("%s %llu\n", argv[i], (unsigned long long)counter_find(text, argv[i]));
	return 0;
}

int box_counters(int argc, char **argv)
{
	return text_print(SYSINFO_COUNTERS, argc, argv);
}

int box_params(int argc, char **argv)
{
	(void)argv;
	return argc > 1 ? box_usage("") : text_print(SYSINFO_PARAMS, 1, NULL);
}
