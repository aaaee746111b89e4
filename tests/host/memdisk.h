/*
 * A disk in memory, its driver, and bios that check themselves; for tests of the block
 * layer. A program includes it once. The driver works when the test says so.
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

/* ---- Bios ---- */

static struct job {
	struct bio bio;
	unsigned   done;
	uint32_t   expected[SECTORS_PER_PAGE];	/* read: generation of each sector */
	uint8_t	   data[PAGE_SIZE];
} jobs[BIOS];

static uint32_t generation[DISK_SECTORS];	/* as of the last write submitted */
static uint32_t next_generation;

static void fill(uint8_t *data, uint32_t g)
{
	for (unsigned i = 0; i < SECTOR_BYTES; i += 4)
		memcpy(data + i, &g, 4);
}

static uint32_t filled(const uint8_t *data)
{
	uint32_t g;

	memcpy(&g, data, 4);
	return memcmp(data, data + 4, SECTOR_BYTES - 4) == 0 ? g : ~0u;
}

static void job_done(struct bio *b)
{
	struct job *j = b->private;

	CHECK(j->done++ == 0);
	for (uint32_t i = 0; !b->write && !b->error && i < b->sectors; i++)
		CHECK(filled(j->data + i * SECTOR_BYTES) == j->expected[i]);
}

static void submit(struct job *j, struct block_dev *dev, sector_t sector, uint32_t sectors,
		   bool write)
{
	j->done = 0;
	j->bio = (struct bio){ .dev = dev, .sector = sector, .sectors = sectors,
			       .buffer = j->data, .write = write, .done = job_done,
			       .private = j };
	for (uint32_t i = 0; i < sectors && sector + i < DISK_SECTORS; i++) {
		if (write) {
			fill(j->data + i * SECTOR_BYTES, ++next_generation);
			generation[sector + i] = next_generation;
		}
		j->expected[i] = generation[sector + i];
	}
	block_submit(&j->bio);
}

static void use(const struct elevator_ops *e)
{
	disk->queue->elevator = e;
	dispatched = 0;
	started = 0;
}

static void read_one(unsigned n, sector_t sector)
{
	submit(&jobs[n], disk, sector, 1, false);
}

/* A table with one good and one overlong partition, read by block_init(). */
static void make_table(void)
{
	static const uint8_t entries[2][16] = {
		{ 0, 0, 0, 0, 0x82, 0, 0, 0, 64, 0, 0, 0, 0xe8, 3, 0, 0 },
		{ 0, 0, 0, 0, 0x82, 0, 0, 0, 0, 8, 0, 0, 1, 8, 0, 0 },
	};

	memcpy(disk_data[0] + 446, entries, sizeof(entries));
	disk_data[0][510] = 0x55;
	disk_data[0][511] = 0xaa;
}

/* The machine with its disk. */
static void boot_disk(void)
{
	shim_machine(8 << 20);
	shim_seed(getenv("SEED") ? (uint32_t)atoi(getenv("SEED")) : 1);
	make_table();
	shim_sleep = sleep_works;
	block_init();
	shim_sleep = NULL;
}

#endif
