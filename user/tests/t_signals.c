/* Exceptions end a process with the right signal; so do raise() and abort(). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <clockhand.h>
#include "user/tests/tap.h"

static void segv_read(void *arg)
{
	(void)*(volatile int *)arg;
}

static void segv_jump(void *arg)
{
	(void)arg;
	((void (*)(void))0x20000000)();
}

static void divide(void *arg)
{
	(void)arg;
	__asm__ volatile("xorl %%ecx, %%ecx\n\tidivl %%ecx" : : "a"(1), "d"(0) : "ecx");
}

static void illegal(void *arg)
{
	(void)arg;
	__asm__ volatile("ud2");
}

static void privileged(void *arg)
{
	(void)arg;
	__asm__ volatile("cli");
}

static void port(void *arg)
{
	(void)arg;
	__asm__ volatile("outb %%al, $0x80" : : "a"(0));
}

static void bad_interrupt(void *arg)
{
	(void)arg;
	__asm__ volatile("int $0x21");
}

static void breakpoint(void *arg)
{
	(void)arg;
	__asm__ volatile("int3");
}

static void bad_segment(void *arg)
{
	(void)arg;
	__asm__ volatile("movw %%ax, %%ds" : : "a"(0x10));
}

static void single_step(void *arg)
{
	(void)arg;
	__asm__ volatile("pushfl\n\torl $0x100, (%esp)\n\tpopfl\n\tnop\n\tnop");
}

static void aborts(void *arg)
{
	(void)arg;
	abort();
}

static void raises(void *arg)
{
	raise(*(int *)arg);
}

static void exits(void *arg)
{
	_exit(*(int *)arg);
}

int main(void)
{
	int term = SIGTERM, code = 77;

	tap_equal(tap_child(segv_read, (void *)8), TAP_KILLED(SIGSEGV), "sig-segv-01", "a read in page 0");
	tap_equal(tap_child(segv_jump, NULL), TAP_KILLED(SIGSEGV), "sig-segv-02", "a jump to nowhere");
	tap_equal(tap_child(privileged, NULL), TAP_KILLED(SIGSEGV), "sig-segv-03", "cli");
	tap_equal(tap_child(port, NULL), TAP_KILLED(SIGSEGV), "sig-segv-04", "a port");
	tap_equal(tap_child(bad_interrupt, NULL), TAP_KILLED(SIGSEGV), "sig-segv-05",
		  "an interrupt gate that isn't for programs");
	tap_equal(tap_child(bad_segment, NULL), TAP_KILLED(SIGSEGV), "sig-segv-06",
		  "the kernel's data segment");
	tap_equal(tap_child(divide, NULL), TAP_KILLED(SIGFPE), "sig-fpe-01", "a division by 0");
	tap_equal(tap_child(illegal, NULL), TAP_KILLED(SIGILL), "sig-ill-01", "ud2");
	tap_equal(tap_child(breakpoint, NULL), TAP_KILLED(SIGTRAP), "sig-trap-01", "int3");
	tap_equal(tap_child(single_step, NULL), TAP_KILLED(SIGTRAP), "sig-trap-02", "the trap flag");
	tap_equal(tap_child(aborts, NULL), TAP_KILLED(SIGABRT), "sig-abort-01", "abort");
	tap_equal(tap_child(raises, &term), TAP_KILLED(SIGTERM), "sig-raise-01", "raise");
	tap_equal(tap_child(exits, &code), TAP_EXITS(77), "sig-exit-01", "exit's code");
	return tap_done();
}
