/*
 * The block layer over a disk in memory, against a model.
 * links: BLOCK mm/frame.c mm/page.c mm/slab.c
 */
#include "shim.h"
#include "diskjobs.h"

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
	boot_disk();
	test_bounds();
	memset(disk_data, 0, sizeof(disk_data));
	memset(generation, 0, sizeof(generation));
	test_random(&elevator_noop, "host-block-01");
	test_random(&elevator_linus, "host-block-02");
	test_plug();
	test_errors();
	test_flush();
	test_figures();
	return tap_done();
}
