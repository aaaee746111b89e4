/*
 * A disk in memory and its driver, which works when the test says so. A program includes it
 * once.
 */
#ifndef MEMDISK_H
#define MEMDISK_H

#include <stdlib.h>
#include <string.h>

#include "drivers/elevator.h"
#include "drivers/ide.h"
#include "drivers/model.h"
#include "drivers/pci.h"
#include "kernel/abi/errno.h"
#include "kernel/abi/sysinfo.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/thread.h"
#include "shim.h"

enum { DISK_SECTORS = 4096, BIOS = 1024 };

static uint8_t disk_data[DISK_SECTORS][SECTOR_BYTES];
static struct block_dev *disk;
static struct request *at_work;
static unsigned started;		/* calls of start() */
static sector_t order[BIOS];		/* first sector of each request, as dispatched */
static uint32_t lengths[BIOS];
static unsigned dispatched;
static sector_t bad_sector = ~0ull;
static struct timer *armed;

static void take(struct block_queue *q)
{
	at_work = queue_next(q);
	if (at_work && dispatched < BIOS) {
		order[dispatched] = at_work->sector;
		lengths[dispatched++] = at_work->sectors;
	}
}

static void driver_start(struct block_queue *q)
{
	started++;
	if (!at_work)
		take(q);
}

static const struct disk_ops driver = { .name = "test", .start = driver_start };

static int move(const struct bio *b)
{
	sector_t first = b->dev->first + b->sector;

	if (bad_sector >= first && bad_sector < first + b->sectors)
		return -EIO;
	for (uint32_t i = 0; i < b->sectors; i++) {
		uint8_t *at = (uint8_t *)b->buffer + i * SECTOR_BYTES;

		if (b->write)
			memcpy(disk_data[first + i], at, SECTOR_BYTES);
		else
			memcpy(at, disk_data[first + i], SECTOR_BYTES);
	}
	return OK;
}

/* Do the first bio of the request at work. False: the driver has nothing. */
static bool work(void)
{
	int error;

	if (!at_work)
		return false;
	error = move(list_first(&at_work->bios, struct bio, link));
	if (!queue_complete(disk->queue, 1, error))
		take(disk->queue);
	return true;
}

static void work_all(void)
{
	while (work())
		continue;
}

static void sleep_works(const char *what)
{
	(void)what;
	if (!work())
		panic("a sleeper that nothing will wake");
}

void ide_init(void)
{
	disk = block_add_disk("hda", DISK_SECTORS, &driver, NULL);
}

void pci_init(void)
{
}

void model_init(void)
{
}

void model_attach(struct block_dev *d)
{
	(void)d;
}

void model_report(const struct block_dev *d)
{
	(void)d;
}

unsigned model_check(const struct block_dev *d)
{
	(void)d;
	return 0;
}

void timer_init(struct timer *timer, void (*fire)(struct timer *))
{
	list_init(&timer->link);
	timer->fire = fire;
}

void timer_set(struct timer *timer, ns_t deadline)
{
	timer->deadline = deadline;
	armed = timer;
}

void timer_cancel(struct timer *timer)
{
	if (armed == timer)
		armed = NULL;
}

void report(const char *fmt, ...)
{
	(void)fmt;
}

#endif
