/*
 * The stack grows as it is used, up to its bound, and no further.
 *
 * rmap: kept
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <clockhand.h>
#include "user/tests/tap.h"

/* Use about `kib` KiB of stack in frames of 1 KiB; 0 if all of them kept their marks. */
static int deep(int kib)
{
	volatile char frame[1000];
	int bad;

	frame[0] = (char)kib;
	frame[999] = (char)~kib;
	bad = kib > 0 ? deep(kib - 1) : 0;
	return bad + (frame[0] != (char)kib || frame[999] != (char)~kib);
}

static void deep_child(void *arg)
{
	_exit(deep(*(int *)arg) != 0);
}

static void big_frame(void *arg)
{
	volatile char *low = (char *)__builtin_frame_address(0) - *(int *)arg;

	*low = 1;
	_exit(*low != 1);
}

int main(void)
{
	int kib = 4096, over = 12 << 10, jump = 64 << 10, far = 1 << 30, after;

	tap_equal(deep(64), 0, "stack-grow-01", "64 KiB deep");
	tap_equal(tap_child(deep_child, &kib), TAP_EXITS(0), "stack-grow-02", "4 MiB deep");
	tap_equal(tap_child(deep_child, &over), TAP_KILLED(SIGSEGV), "stack-grow-03",
		  "12 MiB are more than a stack may have");
	tap_equal(tap_child(big_frame, &jump), TAP_EXITS(0), "stack-grow-04", "one frame of 64 KiB");
	tap_equal(tap_child(big_frame, &far), TAP_KILLED(SIGSEGV), "stack-grow-05",
		  "an address far below isn't the stack's");
	after = tap_child(deep_child, &kib);
	tap_equal(after, TAP_EXITS(0), "stack-grow-06", "and again after all that");
	return tap_done();
}
