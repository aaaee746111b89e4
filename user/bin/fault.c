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
	{ "overflow", MACHINE_OVERFLOW }, { "break", MACHINE_BREAK },
};

/* Status 0: it was done (and the machine still runs); 1: refused; 2: no such fault; 3: the
 * invariant has nothing to break just now. */
int box_fault(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(faults) / sizeof(faults[0]); i++) {
		int result;

		if (strcmp(argv[1], faults[i].name) != 0)
			continue;
		result = sys_machine(faults[i].op, argc > 2 ? (uint32_t)atoi(argv[2]) : 0);
		if (result < 0)
			return box_error(argv[1], -result);
		return result > 0 ? 3 : 0;
	}
	return box_usage("panic | triple | hang | overflow | break N   (with test.faults=1)");
}
