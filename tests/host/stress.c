/*
 * The stress test's operations (user/tests/stress/) against all of the real mm/, on a machine
 * with so little memory that it swaps: contents byte by byte, the audit, the TLB, and at the
 * end no frame may be missing. SEEDS=n runs n seeds, from SEED on; STEPS=n.
 * links: MEMORY tests/host/whole/?*.c user/tests/stress/model.c user/tests/stress/ops.c user/tests/stress/draw.c
 */
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
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
	if (seed % 8 == 5)
		disk_errors = (struct disk_errors){ .reads = 5, .bad_slots = 10, .lies = true };
	world_start(seed, processes);
	for (uint32_t i = 0; i < steps; i++)
		world_step(64);
	world_end();
	machine_stop();
}

/* ---- Counts ---- */

/* Process 0 of a fresh world has page 0 of its window, and what it wrote is in swap. */
static struct process *one_page_out(const struct machine_shape *shape)
{
	struct process *p;

	machine_start(1, shape);
	world_start(1, WORLD_MAX);
	for (unsigned i = world_count(); i-- > 1;)
		os_exit(world_process(i));
	p = world_process(0);
	p->page[0] = (struct model_page){ .kind = ANON, .prot = PROT_READ | PROT_WRITE };
	CHECK(os_map(p, WINDOW, PAGE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == WINDOW);
	write_page(p, 0);
	return p;
}

static swap_entry push_out(struct process *p)
{
	pte_t *pte = pte_find(p->os, WINDOW);

	for (unsigned i = 0; i < 8 && !pte_is_swap(*pte); i++) {
		CHECK(os_advise(p, WINDOW, PAGE_SIZE, MADV_PAGEOUT) == 0);
		machine_settle();
	}
	CHECK(pte_is_swap(*pte));
	return pte_swap_entry(*pte);
}

/* The slot's count is driven to its limit, as by 65,534 address spaces. */
static void test_count_limit(void)
{
	static const struct machine_shape shape = { .ram = 4 << 20, .disks = 1, .slots = { 500 } };
	struct process *p = one_page_out(&shape);
	swap_entry e = push_out(p);
	unsigned more = 0;
	int error;

	while (swap_dup(e) == OK)
		more++;
	CHECK(more > 65000 && swap_dup(e) == -EAGAIN);
	CHECK(!world_fork(p, 1, &error) && error == -EAGAIN);
	CHECK(swap_count(e) <= SLOT_COUNT_MAX);
	read_page(p, 0);		/* the cache's count is kept for that */
	while (more-- > 0)
		swap_free(e);
	CHECK(machine_audit() == 0);
	CHECK(world_fork(p, 1, &error));
	world_end();
	machine_stop();
	tap_checks("host-stress-02", "fork fails with EAGAIN at a slot's last count, and leaves nothing behind");
}

static void test_many_sharers(void)
{
	enum { SHARERS = 300 };
	static const struct machine_shape shape = { .ram = 12 << 20, .disks = 1, .slots = { 900 } };
	struct process *p = one_page_out(&shape);
	int error = OK;

	for (unsigned i = 0; i < SHARERS; i++)
		CHECK(world_fork(p, i, &error));
	for (unsigned i = 0; i <= SHARERS; i++)
		(void)os_advise(world_process(i), WINDOW, PAGE_SIZE, MADV_PAGEOUT);
	CHECK(swap_count(push_out(p)) > 255 && machine_audit() == 0);
	for (unsigned i = 0; i <= SHARERS; i++)
		read_page(world_process(i), 0);
	for (unsigned i = 0; i <= SHARERS; i += 3)
		write_page(world_process(i), 0);
	(void)push_out(p);
	world_end();		/* reads every page of everybody */
	machine_stop();
	tap_checks("host-stress-03", "300 share a page in swap, some write: each finds its own");
}

int main(void)
{
	uint32_t first = shim_run_seed(), seeds = number("SEEDS", 16), steps = number("STEPS", 4000);

	__sanitizer_set_death_callback(tell_seed);
	signal(SIGABRT, aborted);
	for (uint32_t s = first; s < first + seeds; s++)
		run_seed(s, 6 + s % 34, steps);
	printf("# seeds %u to %u, %u steps each:", first, first + seeds - 1, steps);
	for (unsigned i = 0; i < OP_KINDS; i++)
		if (world_done[i])
			printf(" %s %llu", op_name(i), (unsigned long long)world_done[i]);
	printf(" weak %llu killed %llu, out %llu in %llu unread %llu cow %llu steal %llu\n",
	       (unsigned long long)world_weak, (unsigned long long)world_killed,
	       (unsigned long long)counters[COUNT_pswpout], (unsigned long long)counters[COUNT_pswpin],
	       (unsigned long long)counters[COUNT_swap_read_errors],
	       (unsigned long long)counters[COUNT_cow_copy], (unsigned long long)counters[COUNT_swap_steal]);
	tap_checks("host-stress-01", "random calls of many processes: every byte, the books, the TLB");
	test_count_limit();
	test_many_sharers();
	return tap_done();
}
