/*
 * The stress test's operations (user/tests/stress/) against all of the real mm/, on a machine
 * with so little memory that it swaps: contents byte by byte, the audit, the TLB, and at the
 * end no frame may be missing. SEEDS=n runs n seeds, from SEED on; STEPS=n.
 * links: mm/[!aiklt]?*.c mm/limit.c mm/lru.c mm/advise.c mm/alloc_fail.c mm/audit.c mm/tree.c mm/swap/?*.c mm/oom/default.c
 * links: mm/rmap/common.c mm/rmap/object.c mm/rmap/RMAP/?*.c
 * links: mm/reclaim/linux26.c mm/reclaim/shrink.c mm/reclaim/alloc.c mm/reclaim/policy.c
 * links: tests/host/whole/?*.c user/tests/stress/model.c user/tests/stress/ops.c
 */
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/counters.h"
#include "shim.h"
#include "user/tests/stress/model.h"
#include "whole/machine.h"

static uint32_t seed_now;

static uint32_t number(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? (uint32_t)strtoul(text, NULL, 0) : otherwise;
}

static void tell_seed(void)
{
	printf("# died at seed %u\n", seed_now);
	for (unsigned i = 0; i < WORLD_MAX; i++)
		if (world_process(i) && world_process(i)->step > 0) {
			printf("# process %u:\n", i + 1);
			process_report(world_process(i));
		}
	fflush(stdout);
}

static void aborted(int signal_number)
{
	(void)signal_number;
	tell_seed();
	_Exit(1);
}

static void run_seed(uint32_t seed, unsigned processes, uint32_t steps)
{
	seed_now = seed;
	machine_start(seed, NULL);
	if (seed % 4 == 3)
		disk_errors = (struct disk_errors){ .reads = seed % 3, .writes = seed % 5 * 8,
						    .bad_slots = seed % 7 * 3 };
	world_start(seed, processes);
	for (uint32_t i = 0; i < steps; i++)
		world_step(64);
	world_end();
	machine_stop();
}

int main(void)
{
	uint32_t first = shim_run_seed(), seeds = number("SEEDS", 40), steps = number("STEPS", 4000);

	__sanitizer_set_death_callback(tell_seed);
	signal(SIGABRT, aborted);
	for (uint32_t s = first; s < first + seeds; s++)
		run_seed(s, 6 + s % 34, steps);
	printf("# seeds %u to %u, %u steps each:", first, first + seeds - 1, steps);
	for (unsigned i = 0; i < OP_KINDS; i++)
		if (world_done[i])
			printf(" %s %llu", op_name(i), (unsigned long long)world_done[i]);
	printf(" weak %llu killed %llu, out %llu in %llu cow %llu steal %llu\n", (unsigned long long)world_weak, (unsigned long long)world_killed,
	       (unsigned long long)counters[COUNT_pswpout], (unsigned long long)counters[COUNT_pswpin],
	       (unsigned long long)counters[COUNT_cow_copy], (unsigned long long)counters[COUNT_swap_steal]);
	tap_checks("host-stress-01", "random calls of many processes: every byte, the books, the TLB");
	return tap_done();
}
