/*
 * Every allocation that a small workload makes fails once: the n-th, for n from 1 until there
 * is none left. Each time the calls may fail with -ENOMEM and nothing else, contents are what
 * they should be, the books balance, and every frame comes back. SEEDS=n: so many workloads.
 * rmap: kept
 * links: MEMORY tests/host/whole/?*.c user/tests/stress/model.c user/tests/stress/ops.c user/tests/stress/draw.c
 */
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/abi/errno.h"
#include "mm/alloc_fail.h"
#include "shim.h"
#include "user/tests/stress/model.h"
#include "whole/machine.h"

enum { PROCESSES = 6, STEPS = 220, AUDIT_EVERY = 55 };

static const struct machine_shape roomy = { .ram = 6 << 20, .disks = 1, .slots = { 700 } };
static const struct machine_shape tight = { .ram = 1700 << 10, .disks = 2,
					    .slots = { 500, 900 }, .priority = { 1, 1 } };
static uint32_t seed_now, failing;

static void tell(void)
{
	printf("# died at seed %u, allocation %u\n", seed_now, failing);
	fflush(stdout);
}

static void aborted(int signal_number)
{
	(void)signal_number;
	tell();
	_Exit(1);
}

/* The workload with its n-th allocation failing. False: it doesn't have so many. */
static bool run(uint32_t seed, uint32_t n, const struct machine_shape *shape)
{
	bool reached;

	seed_now = seed;
	failing = n;
	machine_start(seed, shape);
	world_start(seed, PROCESSES);
	alloc_fail_set(n);
	for (unsigned i = 0; i < STEPS; i++)
		world_step(AUDIT_EVERY);
	reached = alloc_fail_set(0) == 0;
	world_end();
	machine_stop();
	return reached;
}

static void sweep(const struct machine_shape *shape, const char *name, const char *sentence,
		  uint32_t seeds)
{
	uint32_t first = shim_run_seed(), total = 0;

	for (uint32_t seed = first; seed < first + seeds; seed++) {
		uint32_t n = 1;

		while (run(seed, n, shape))
			n++;
		total += n - 1;
		CHECK(n > 100);
	}
	printf("# %u allocations failed, one by one\n", total);
	tap_checks(name, sentence);
}

/* An area comes into service wholly or not at all. */
static void sweep_swapon(void)
{
	uint32_t n = 0, left;
	int error;

	do {
		machine_start(1, &roomy);
		CHECK(swap_off(disk_name(0)) == OK);
		alloc_fail_set(++n);
		error = swap_on(disk_name(0), 3);
		left = alloc_fail_set(0);
		CHECK(error == (left ? OK : -ENOMEM) && disk_in_use(0) == !error);
		if (error)
			CHECK(swap_on(disk_name(0), 3) == OK);
		machine_stop();
	} while (!left);
	CHECK(n > 4);
	tap_checks("host-allocfail-03", "swapon without memory, at each of its allocations");
}

int main(void)
{
	const char *seeds = getenv("SEEDS");

	__sanitizer_set_death_callback(tell);
	signal(SIGABRT, aborted);
	sweep(&roomy, "host-allocfail-01", "each allocation of a workload fails once",
	      seeds ? (uint32_t)atoi(seeds) : 1);
	sweep(&tight, "host-allocfail-02", "the same on a machine that swaps",
	      seeds ? (uint32_t)atoi(seeds) : 1);
	sweep_swapon();
	return tap_done();
}
