/* Swap areas without disks, for tests of their slot maps. */
#ifndef SLOT_AREAS_H
#define SLOT_AREAS_H

#include <string.h>

#include "kernel/abi/errno.h"
#include "mm/swap/area.h"
#include "shim.h"

struct swap_area swap_areas[SWAP_AREAS_MAX];

static struct block_dev devices[SWAP_AREAS_MAX];

static void area_start(unsigned n, uint32_t size, int32_t priority)
{
	struct swap_area *a = &swap_areas[n];

	devices[n].sectors = (sector_t)size * SECTORS_PER_PAGE;
	strcpy(devices[n].name, "hdx1");
	CHECK(slots_create(a, size) == OK);
	a->dev = &devices[n];
	a->priority = priority;
	a->header = HEADER_GOOD;
	a->failed_writes = 0;
	a->turn = 0;
	a->state = AREA_ON;
}

static void area_stop(unsigned n)
{
	swap_areas[n].state = AREA_OFF;
	slots_destroy(&swap_areas[n]);
}

static void start(uint32_t size)
{
	memset(swap_areas, 0, sizeof(swap_areas));
	area_start(0, size, 0);
}

static uint32_t take(void)
{
	swap_entry e;

	return swap_slot_alloc(&e) ? swap_entry_slot(e) : 0;
}

#endif
