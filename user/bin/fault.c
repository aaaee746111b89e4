/* fault: ask the kernel for a planted fault, so that tests see how it is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <clockhand.h>
#include "user/bin/box.h"

static const struct {
	const char *name;
	int op;
} faults[] = {
	{ "panic", MACHINE_PANIC }, { "triple", MACHINE_TRIPLE }, { "hang", MACHINE_HANG },
	{ "overflow", MACHINE_OVERFLOW },
};

static int usage(void)
{
	return box_usage("panic | triple | hang | overflow | break N | "
			 "lose page | slab | slot | stack | object | table   (with test.faults=1)");
}

/* Lose one of what is named. */
static int lose(const char *what)
{
	static const char *const names[] = {
		[LOSE_PAGE] = "page", [LOSE_SLAB] = "slab", [LOSE_SLOT] = "slot",
		[LOSE_STACK] = "stack", [LOSE_OBJECT] = "object", [LOSE_TABLE] = "table",
	};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(what, names[i]) == 0) {
			int result = sys_machine(MACHINE_LOSE, i);

			return result < 0 ? box_error(what, -result) : 0;
		}
	}
	return usage();
}

/* Break invariant `n`, and audit before anything else can happen to what was broken. */
static int break_and_audit(uint32_t n)
{
	int result = sys_machine(MACHINE_BREAK, n);

	if (result < 0)
		return box_error("break", -result);
	if (result > 0)
		return 3;
	return sys_machine(MACHINE_AUDIT, 0) > 0 ? 4 : 0;
}

/* Status 0: it was done (and the machine still runs); 1: refused; 2: no such fault; 3: the
 * invariant has nothing to break just now; 4: broken, and the audit saw it. */
int box_fault(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "break") == 0)
		return break_and_audit((uint32_t)atoi(argv[2]));
	if (argc > 2 && strcmp(argv[1], "lose") == 0)
		return lose(argv[2]);
	for (size_t i = 0; argc == 2 && i < sizeof(faults) / sizeof(faults[0]); i++) {
		int result;

		if (strcmp(argv[1], faults[i].name) != 0)
			continue;
		result = sys_machine(faults[i].op, 0);
		return result < 0 ? box_error(argv[1], -result) : 0;
	}
	return usage();
}
