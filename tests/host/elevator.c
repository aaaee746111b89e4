/*
 * Order and merging of both elevators.
 * links: BLOCK mm/frame.c mm/page.c mm/slab.c
 */
#include "shim.h"
#include "diskjobs.h"

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

int main(void)
{
	boot_disk();
	test_order();
	test_merge(&elevator_noop, "host-elevator-03");
	test_merge(&elevator_linus, "host-elevator-04");
	test_starvation();
	test_overlap(&elevator_noop, "host-elevator-06");
	test_overlap(&elevator_linus, "host-elevator-07");
	return tap_done();
}
