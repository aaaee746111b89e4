/*
 * A machine for tests of swap with everything below it: 2 MiB of RAM, a disk in memory with two
 * swap areas, the real reclaim policy, and an OOM killer that finds nobody. A program includes
 * it once.
 */
#ifndef SWAP_DISK_H
#define SWAP_DISK_H

#include "mm/fault.h"
#include "mm/frame.h"
#include "mm/oom.h"
#include "mm/reclaim.h"
#include "mm/swap/area.h"
#include "kernel_parts.h"
#include "no_threads.h"
#include "memdisk.h"
#include "shim.h"

enum { AREA_SECTORS = 1984, AREA_PAGES = AREA_SECTORS / SECTORS_PER_PAGE };
static const sector_t area_first[2] = { 64, 64 + AREA_SECTORS + 64 };

/* ---- The parts of the kernel that these files call and this test does without ---- */

void oom_init(const char *era) { (void)era; }
ns_t thread_time_ns(const struct thread *t, int mode) { (void)t; (void)mode; return 0; }
enum oom_result oom_kill(enum oom_asker who, unsigned order) { (void)who; (void)order; return OOM_NOBODY; }

/* The plug's time is over. False: no timer is set. */
static bool fire_timer(void)
{
	struct timer *t = armed;

	armed = NULL;
	if (t)
		t->fire(t);
	return t;
}

int thread_sleep(enum sleep_kind kind, ns_t deadline, const char *what)
{
	(void)kind; (void)deadline; (void)what;
	if (!work())
		fire_timer();
	return 0;
}

static void make_area(uint8_t *entry, sector_t first)
{
	uint32_t *words = (uint32_t *)disk_data[first];
	uint32_t lba = (uint32_t)first, count = AREA_SECTORS;

	entry[4] = 0x82;
	memcpy(entry + 8, &lba, 4);
	memcpy(entry + 12, &count, 4);
	memcpy((char *)words + PAGE_SIZE - 10, "SWAPSPACE2", 10);
	words[256] = 1;
	words[257] = AREA_PAGES - 1;
}

/* Areas hda1 and hda2 are in service, with equal priorities. */
static void boot_machine(void)
{
	shim_machine(2 << 20);
	shim_seed(shim_run_seed());
	make_area(&disk_data[0][446], area_first[0]);
	make_area(&disk_data[0][462], area_first[1]);
	disk_data[0][510] = 0x55;
	disk_data[0][511] = 0xaa;
	shim_sleep = sleep_works;
	zero_page = page_alloc(GFP_ZERO, 0);
	frame_reserve(zero_page);
	block_init();
	reclaim_init();
	CHECK(swap_on("hda1", 5) == OK && swap_on("hda2", 5) == OK);
}

#endif
