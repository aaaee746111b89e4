/*
 * The block layer and both elevators over a disk in memory, against a model.
 * links: drivers/block.c drivers/block_report.c drivers/queue.c drivers/elevator*.c
 * links: drivers/partition.c mm/frame.c mm/page.c mm/slab.c
 */
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

/* ---- A driver whose disk is an array; it works when the test says so ---- */

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

/* True if the requests went out at these sectors. */
static bool went(const sector_t *sectors, unsigned count)
{
	bool same = dispatched == count;

	for (unsigned i = 0; i < count && same; i++)
		same = order[i] == sectors[i];
	return same;
}
#define WENT(...) went((const sector_t[]){ __VA_ARGS__ },			\
		       sizeof((const sector_t[]){ __VA_ARGS__ }) / sizeof(sector_t))

/* ---- Elevators ---- */

static void test_order(void)
{
	use(&elevator_noop);
	block_plug();
	read_one(0, 500);
	read_one(1, 100);
	read_one(2, 900);
	read_one(3, 300);
	block_unplug();
	work_all();
	CHECK(WENT(500, 100, 900, 300));
	tap_checks("host-elevator-01", "noop serves in the order of arrival");

	use(&elevator_linus);
	block_plug();
	read_one(0, 500);
	read_one(1, 100);
	read_one(2, 900);
	read_one(3, 300);
	read_one(4, 700);
	read_one(5, 50);
	block_unplug();
	work_all();
	CHECK(WENT(500, 700, 900, 50, 100, 300));
	tap_checks("host-elevator-02", "linus sorts each sweep upwards and wraps");
}

static void test_merge(const struct elevator_ops *e, const char *name)
{
	use(e);
	block_plug();
	submit(&jobs[0], disk, 100, 8, false);
	submit(&jobs[1], disk, 108, 8, false);		/* back */
	submit(&jobs[2], disk, 92, 8, false);		/* front */
	submit(&jobs[3], disk, 116, 8, true);		/* of another kind */
	submit(&jobs[4], disk, 125, 1, false);		/* not contiguous */
	CHECK(queue_check(disk->queue) == 0);
	block_unplug();
	work_all();
	CHECK(dispatched == 3 && order[0] == 92 && lengths[0] == 24);

	use(e);
	block_plug();
	for (unsigned i = 0; i < 40; i++)
		submit(&jobs[i], disk, 1000 + i, 1, true);	/* 32 bios a request */
	for (unsigned i = 0; i < 40; i++)
		submit(&jobs[40 + i], disk, 2000 + 8 * i, 8, true);
	block_unplug();
	work_all();
	CHECK(dispatched == 4 && lengths[0] == 32 && lengths[1] == 8);
	CHECK(lengths[2] == 256 && lengths[3] == 64);
	for (unsigned i = 0; i < 80; i++)
		CHECK(jobs[i].done == 1);
	tap_checks(name, "neighbours merge at both ends, up to 256 sectors and 32 bios");
}

/* Requests at 1000 and 4000 wait; returns the latter. The disk is at work elsewhere. */
static struct request *two_wait(void)
{
	read_one(0, 10);
	read_one(1, 1000);
	read_one(2, 4000);
	dispatched = 0;
	return list_last(&disk->queue->requests, struct request, link);
}

static void test_starvation(void)
{
	struct request *r;
	int32_t before;
	unsigned passed = 0;

	use(&elevator_linus);
	r = two_wait();
	before = r->sequence;
	submit(&jobs[3], disk, 2000, 8, false);
	submit(&jobs[4], disk, 2008, 8, false);		/* merges ahead of it */
	CHECK(before == 8192 && r->sequence == before - 1 - 1 - 8);
	work_all();
	CHECK(WENT(1000, 2000, 4000));

	two_wait()->sequence = 5;
	for (unsigned i = 3; i < 40; i++)
		read_one(i, 1000 + 2 * i);
	work_all();
	while (passed < dispatched && order[passed] != 4000)
		passed++;
	CHECK(passed == 1 + 5);
	tap_checks("host-elevator-05", "linus lets nobody be overtaken beyond its latency");
}

static void test_overlap(const struct elevator_ops *e, const char *name)
{
	use(e);
	block_plug();
	submit(&jobs[0], disk, 3000, 8, false);
	submit(&jobs[1], disk, 1000, 8, true);
	submit(&jobs[2], disk, 1004, 8, false);		/* reads what was just written */
	submit(&jobs[3], disk, 996, 8, true);		/* and is overwritten then */
	submit(&jobs[4], disk, 992, 4, false);
	submit(&jobs[5], disk, 1000, 8, false);
	CHECK(queue_check(disk->queue) == 0);
	block_unplug();
	work_all();
	for (unsigned i = 0; i < 6; i++)
		CHECK(jobs[i].done == 1);
	tap_checks(name, "transfers of one sector keep their order");
}

/* ---- The block layer ---- */

static void test_random(const struct elevator_ops *e, const char *name)
{
	use(e);
	for (unsigned round = 0; round < 300; round++) {
		unsigned count = 1 + random_u32() % BIOS, plugged = 0;
		sector_t at = 0;

		for (unsigned i = 0; i < count; i++) {
			uint32_t sectors = 1 + random_u32() % 8;

			if (random_u32() % 3 == 0)
				at = random_u32() % 600;
			if (random_u32() % 8 == 0 && plugged < 3) {
				block_plug();
				plugged++;
			}
			submit(&jobs[i], disk, at, sectors, random_u32() % 2);
			at += sectors;
			while (random_u32() % 4 == 0)
				work();
			if (plugged && random_u32() % 8 == 0) {
				block_unplug();
				plugged--;
			}
		}
		CHECK(block_check() == 0);
		while (plugged-- > 0)
			block_unplug();
		work_all();
		for (unsigned i = 0; i < count; i++)
			CHECK(jobs[i].done == 1 && jobs[i].bio.error == OK);
		CHECK(block_check() == 0 && block_pending(disk) == 0);
		CHECK(disk->queue->free_count == disk->queue->pool_count);
	}
	tap_checks(name, "random bios: each done once, each read sees the writes before it");
}

static void test_plug(void)
{
	use(&elevator_noop);
	block_plug();
	block_plug();
	read_one(0, 100);
	CHECK(started == 0 && armed && !at_work);
	block_unplug();
	CHECK(started == 0);
	block_unplug();
	CHECK(started == 1 && !armed && at_work);
	work_all();
	tap_checks("host-block-03", "a plugged disk starts with the last unplug");

	use(&elevator_noop);
	block_plug();
	read_one(0, 100);
	CHECK(armed && !at_work);
	armed->fire(armed);
	CHECK(at_work);
	work_all();
	block_unplug();
	tap_checks("host-block-04", "a plug that is held for long is overruled");

	use(&elevator_noop);
	block_plug();
	for (unsigned i = 0; i < disk->queue->pool_count; i++)
		read_one(i, 2 * i);
	CHECK(started == 0);
	read_one(500, 3000);
	CHECK(started == 1 && block_pending(disk) == disk->queue->pool_count + 1);
	block_unplug();
	for (unsigned i = 501; i < 600; i++)
		read_one(i, 3000 + 2 * i % 1000);
	CHECK(queue_check(disk->queue) == 0);
	work_all();
	CHECK(jobs[500].done == 1 && block_pending(disk) == 0);
	for (unsigned i = 0; i < disk->queue->pool_count; i++)
		CHECK(order[i] == 2 * i);
	CHECK(order[disk->queue->pool_count] == 3000);
	tap_checks("host-block-05", "without a free request bios wait in order");
}

static void submit_bad(struct block_dev *dev, sector_t sector, uint32_t sectors, bool write)
{
	struct job *j = &jobs[0];

	j->done = 0;
	j->bio = (struct bio){ .dev = dev, .sector = sector, .sectors = sectors,
			       .buffer = j->data, .write = write, .done = job_done,
			       .private = j };
	block_submit(&j->bio);
	CHECK(j->done == 1 && j->bio.error == -EIO && block_pending(disk) == 0);
}

static void test_bounds(void)
{
	struct block_dev *part = block_find("hda1");
	uint32_t last;

	CHECK(part && part->first == 64 && part->sectors == 1000 && !part->broken);
	if (!part)
		return;
	submit_bad(disk, DISK_SECTORS - 1, 2, false);
	submit_bad(disk, ~0ull, 8, false);
	submit_bad(disk, 0, 0, false);
	submit_bad(disk, 0, 9, true);
	submit_bad(part, 999, 2, true);
	submit_bad(part, 1000, 1, false);
	CHECK(block_find("hda2") && block_find("hda2")->broken);
	submit_bad(block_find("hda2"), 0, 1, true);
	tap_checks("host-block-06", "a bio out of bounds, or for a refused partition, is -EIO at once");

	part->claimed = true;
	submit_bad(disk, 1063, 1, true);
	submit_bad(disk, 60, 8, true);
	submit(&jobs[1], disk, 1064, 1, true);
	submit(&jobs[2], disk, 1063, 1, false);
	submit(&jobs[3], disk, 56, 8, true);
	work_all();
	part->claimed = false;
	last = next_generation + 1;
	submit(&jobs[4], part, 10, 1, true);		/* its model is the disk's sector 10 */
	work_all();
	CHECK(filled(disk_data[74]) == last);
	generation[74] = last;
	generation[10] = filled(disk_data[10]);
	tap_checks("host-block-07", "the disk under a claimed partition can't be written");
}

static void test_errors(void)
{
	static uint8_t buffer[40 * SECTOR_BYTES];

	bad_sector = 310;
	block_plug();
	for (unsigned i = 0; i < 4; i++)
		submit(&jobs[i], disk, 300 + 8 * i, 8, false);
	block_unplug();
	work_all();
	CHECK(jobs[0].bio.error == OK && jobs[1].bio.error == -EIO);
	CHECK(jobs[2].bio.error == OK && jobs[3].bio.error == OK);
	tap_checks("host-block-08", "of a merged request only the bios that failed fail");

	shim_sleep = sleep_works;
	CHECK(block_transfer(disk, 290, buffer, 40, false) == -EIO);
	bad_sector = ~0ull;
	CHECK(block_transfer(disk, 290, buffer, 40, false) == OK);
	CHECK(memcmp(buffer, disk_data[290], sizeof(buffer)) == 0);
	memset(buffer, 0x77, sizeof(buffer));
	CHECK(block_transfer(disk, 3901, buffer, 39, true) == OK);
	CHECK(disk_data[3900][0] != 0x77 && disk_data[3901][5] == 0x77);
	CHECK(disk_data[3939][511] == 0x77 && disk_data[3940][0] != 0x77);
	CHECK(block_transfer(disk, 4090, buffer, 8, false) == -EIO);
	CHECK(block_transfer(disk, 0, buffer, 0, false) == OK);
	CHECK(block_pending(disk) == 0);
	tap_checks("host-block-09", "a transfer waits for all of its parts and tells the error");
}

static void test_flush(void)
{
	struct block_queue *q = disk->queue;

	use(&elevator_linus);
	shim_sleep = NULL;
	read_one(0, 10);
	read_one(1, 2000);
	shim_sleep = sleep_works;
	CHECK(block_flush(disk) == OK);
	CHECK(jobs[0].done == 1 && jobs[1].done == 1 && q->stats.flushes == 1);
	tap_checks("host-block-10", "a flush comes after all that was submitted before it");

	read_one(0, 10);
	block_wait_congestion(10);
	CHECK(jobs[0].done == 1);
	shim_sleep = NULL;
	block_wait_congestion(10);		/* nothing pending: no sleep */
	tap_checks("host-block-11", "waiting for congestion ends with a request, or at once");
}

/* A table with one good and one overlong partition; read by block_init(). */
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

static void test_figures(void)
{
	struct abi_disk_row rows[2];

	CHECK(block_rows(rows, 2) == 1 && strcmp(rows[0].name, "hda") == 0);
	CHECK(rows[0].reads == disk->queue->stats.requests[REQUEST_READ]);
	CHECK(rows[0].sectors == DISK_SECTORS && rows[0].busy_ns > 0);
	CHECK(block_rows(rows, 0) == 0);
	disk->queue->free_count--;
	CHECK(block_check() == 1);
	disk->queue->free_count++;
	disk->queue->pending++;
	CHECK(block_check() == 1);
	disk->queue->pending--;
	CHECK(block_check() == 0);
	tap_checks("host-block-12", "rows tell what was done, the check finds a false count");
}

int main(void)
{
	shim_machine(8 << 20);
	shim_seed(getenv("SEED") ? (uint32_t)atoi(getenv("SEED")) : 1);
	make_table();
	shim_sleep = sleep_works;
	block_init();
	shim_sleep = NULL;
	test_bounds();
	memset(disk_data, 0, sizeof(disk_data));
	memset(generation, 0, sizeof(generation));
	test_order();
	test_merge(&elevator_noop, "host-elevator-03");
	test_merge(&elevator_linus, "host-elevator-04");
	test_starvation();
	test_overlap(&elevator_noop, "host-elevator-06");
	test_overlap(&elevator_linus, "host-elevator-07");
	test_random(&elevator_noop, "host-block-01");
	test_random(&elevator_linus, "host-block-02");
	test_plug();
	test_errors();
	test_flush();
	test_figures();
	return tap_done();
}
