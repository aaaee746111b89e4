/* The builtin ulimit: [-H | -S] [-a | -l | -s | -v [KIB | unlimited]]. Sizes are in KiB. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "user/sh/sh.h"

enum which_limit { SOFT = 1, HARD = 2 };

static const struct {
	char	    letter;
	int	    which;
	const char *what;
} limits[] = {
	{ 'l', RLIMIT_MEMLOCK, "locked memory (KiB)" },
	{ 's', RLIMIT_STACK, "stack size (KiB)" },
	{ 'v', RLIMIT_AS, "virtual memory (KiB)" },
};
enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };

static void print_limit(const char *label, rlim_t value)
{
	printf("%s", label);
	if (value == RLIM_INFINITY)
		puts("unlimited");
	else
		printf("%lu\n", (unsigned long)(value / 1024));
}

static int fail(const char *why)
{
	sh_error("ulimit", why);
	return 1;
}

/* Print limit `n`, soft or hard, with what it is about if `told`. */
static int show(unsigned n, enum which_limit side, int told)
{
	struct rlimit r;
	char label[48] = "";

	if (getrlimit(limits[n].which, &r) < 0)
		return fail(strerror(errno));
	if (told)
		snprintf(label, sizeof(label), "-%c  %-24s", limits[n].letter, limits[n].what);
	print_limit(label, side == HARD ? r.rlim_max : r.rlim_cur);
	return 0;
}

/* KiB as text into bytes; -1 if it is neither a number nor "unlimited", or too large. */
static int parse(const char *text, rlim_t *bytes)
{
	char *end;
	unsigned long kib;

	*bytes = RLIM_INFINITY;
	if (strcmp(text, "unlimited") == 0)
		return 0;
	errno = 0;
	kib = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || kib >= RLIM_INFINITY / 1024)
		return -1;
	*bytes = (rlim_t)kib * 1024;
	return 0;
}

static int set(unsigned n, int sides, const char *text)
{
	struct rlimit r;
	rlim_t bytes;

	if (parse(text, &bytes) < 0)
		return fail("not a number of KiB");
	if (getrlimit(limits[n].which, &r) < 0)
		return fail(strerror(errno));
	if (sides & SOFT)
		r.rlim_cur = bytes;
	if (sides & HARD)
		r.rlim_max = bytes;
	return setrlimit(limits[n].which, &r) < 0 ? fail(strerror(errno)) : 0;
}

/* Without -H or -S the soft limit is shown, and both are set, as POSIX has it. */
int sh_ulimit(int argc, char **argv)
{
	int sides = 0, all = 0, chosen = -1, i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		for (const char *c = argv[i] + 1; *c; c++) {
			int known = *c == 'H' || *c == 'S' || *c == 'a';

			sides |= *c == 'H' ? HARD : *c == 'S' ? SOFT : 0;
			all |= *c == 'a';
			for (int n = 0; n < LIMITS; n++) {
				if (limits[n].letter == *c) {
					chosen = n;
					known = 1;
				}
			}
			if (!known)
				return fail("options are -H -S -a -l -s -v");
		}
	}
	if (argc > i + (all ? 0 : 1))
		return fail("too many arguments: [-H | -S] [-a | -l | -s | -v [KIB | unlimited]]");
	if (!all && chosen < 0)
		return fail("which limit? -a -l -s -v");
	if (!all)
		return i < argc ? set((unsigned)chosen, sides ? sides : SOFT | HARD, argv[i]) :
		       show((unsigned)chosen, sides == HARD ? HARD : SOFT, 0);
	for (unsigned n = 0; n < LIMITS; n++)
		show(n, sides == HARD ? HARD : SOFT, 1);
	return 0;
}
