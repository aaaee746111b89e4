/* newlib on top of our system side: what C programs expect to work. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/time.h>
#include <clockhand.h>
#include "user/tests/tap.h"

static void allocation(void)
{
	enum { BLOCKS = 200 };
	static char *p[BLOCKS];
	int bad = 0;

	for (unsigned i = 0; i < BLOCKS; i++) {
		p[i] = malloc(i * 37 + 1);
		memset(p[i], (int)i, i * 37 + 1);
	}
	for (unsigned i = 0; i < BLOCKS; i += 3)
		free(p[i]);
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (i % 3 == 0)
			continue;
		bad |= (unsigned char)p[i][0] != (i & 0xff) || (unsigned char)p[i][i * 37] != (i & 0xff);
		free(p[i]);
	}
	tap_equal(bad, 0, "libc-malloc-01", "200 blocks keep their contents");
	tap_case(malloc(0x7fffff00) == NULL && errno == ENOMEM, "libc-malloc-02",
		 "2 GiB are refused");
}

static void formats(void)
{
	char s[64];

	sniprintf(s, sizeof(s), "%d %x %s %lld %zu", -5, 255, "t", 1LL << 40, sizeof(s));
	tap_case(strcmp(s, "-5 ff t 1099511627776 64") == 0, "libc-printf-01", s);
}

static void times_pass(void)
{
	struct timeval a, b;
	struct timespec ts = { 0, 20000000 };

	gettimeofday(&a, NULL);
	tap_equal(nanosleep(&ts, NULL), 0, "libc-time-01", "20 ms");
	gettimeofday(&b, NULL);
	tap_case((b.tv_sec - a.tv_sec) * 1000000 + b.tv_usec - a.tv_usec >= 20000, "libc-time-02",
		 "passed on the wall clock");
	ts.tv_nsec = 1000000000;
	tap_equal(nanosleep(&ts, NULL), -1, "libc-time-03", "a second of 10^9 ns is none");
}

static jmp_buf buffer;

static void jumps(void)
{
	volatile int turns = 0;

	if (setjmp(buffer) < 3) {
		turns++;
		longjmp(buffer, turns);
	}
	tap_equal(turns, 3, "libc-jump-01", "setjmp and longjmp");
}

static void environment(void)
{
	setenv("A", "b", 1);
	tap_case(getenv("A") && strcmp(getenv("A"), "b") == 0, "libc-env-01", "setenv");
	tap_case(getenv("PATH") != NULL, "libc-env-02", "there is a PATH");
	tap_equal(isatty(1), 1, "libc-tty-01", "the console is a terminal");
	tap_equal(sysconf(_SC_PAGESIZE), 4096, "libc-conf-01", "the page size");
}

int main(void)
{
	allocation();
	formats();
	times_pass();
	jumps();
	environment();
	return tap_done();
}
