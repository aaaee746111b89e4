/*
 * The FPU's state belongs to a process: it survives preemption by others that compute
 * too, fork, waiting, and is clean in a new one. On a machine without FPU the first
 * case says so and the others are what happens instead: SIGILL.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { RIVALS = 3, ROUNDS = 200000 };

static void use_fpu(void *arg)
{
	volatile double x = *(int *)arg;

	x = x * 2.5;
	_exit(x == 2.5 ? 0 : 1);
}

/* A sum that any loss of a register would change. */
static int compute(int seed)
{
	uint64_t bits[2];
	double first = 0;

	for (int run = 0; run < 2; run++) {
		double a = seed, b = 1.0 / (seed + 1), c = 0;

		for (int i = 0; i < ROUNDS; i++) {
			c = c * 0.5 + a * b;
			a = a + b;
			b = b * 1.0000001;
		}
		__builtin_memcpy(&bits[run], &c, sizeof(c));
		first = c;
	}
	return bits[0] == bits[1] && first != 0;
}

/* Load the whole stack of eight registers, let others run, and take it down again. */
static int stack_survives(void)
{
	double in[8] = { 1.5, 2.25, -3.125, 4e10, 5e-10, 6, 7, 8.0625 }, out[8];

	for (int i = 0; i < 8; i++)
		__asm__ volatile("fldl %0" : : "m"(in[i]));
	for (int i = 0; i < 20; i++)
		sys_yield();
	sys_sleep(3000000, 0);
	for (int i = 7; i >= 0; i--)
		__asm__ volatile("fstpl %0" : "=m"(out[i]));
	return __builtin_memcmp(in, out, sizeof(in)) == 0;
}

static void rivals(void)
{
	int bad = 0, status;

	fflush(stdout);
	for (int i = 0; i < RIVALS; i++) {
		if (fork() == 0)
			_exit(!(compute(i + 3) && stack_survives()));
	}
	bad |= !compute(2);
	bad |= !stack_survives();
	for (int i = 0; i < RIVALS; i++)
		bad |= wait(&status) < 0 || status != 0;
	tap_equal(bad, 0, "fpu-switch-01", "four processes compute side by side");
}

static void forked(void)
{
	double in = 1.0 / 3, out = 0;
	int status;
	pid_t pid;

	fflush(stdout);
	__asm__ volatile("fldl %0" : : "m"(in));
	pid = fork();
	__asm__ volatile("fstpl %0" : "=m"(out));
	if (pid == 0)
		_exit(out == in ? 0 : 1);
	tap_case(out == in, "fpu-fork-01", "the parent's register survives fork");
	tap_case(waitpid(pid, &status, 0) == pid && status == 0, "fpu-fork-02",
		 "the child has it too");
}

static void control_words(void)
{
	uint16_t mine = 0x0c7f, got = 0, initial = 0;

	__asm__ volatile("fninit; fnstcw %0" : "=m"(initial));
	tap_equal(initial, 0x037f, "fpu-clean-01", "the initial control word");
	__asm__ volatile("fldcw %0" : : "m"(mine));
	sys_sleep(2000000, 0);
	__asm__ volatile("fnstcw %0" : "=m"(got));
	tap_equal(got, mine, "fpu-switch-02", "the control word survives a wait");
	__asm__ volatile("fninit");
}

int main(void)
{
	int one = 1, status = tap_child(use_fpu, &one);

	if (status == TAP_KILLED(SIGILL)) {
		tap_case(1, "fpu-none-01", "no FPU: a program that uses it gets SIGILL");
		return tap_done();
	}
	tap_equal(status, TAP_EXITS(0), "fpu-use-01", "a process computes");
	control_words();
	tap_case(stack_survives(), "fpu-switch-03", "eight registers survive yields and a wait");
	rivals();
	forked();
	return tap_done();
}
