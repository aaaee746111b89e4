/*
 * The modelled drive in virtual time: what it must be plausible for (docs/formats.md, "The
 * modelled drive"), its buffers, and everything it is asked at random.
 * links: drivers/model_ata.c drivers/model_drive.c drivers/model_geometry.c drivers/model_powers.c
 * links: mm/frame.c mm/page.c mm/slab.c
 */
#include <string.h>

#include "drivers/model_drive.h"
#include "shim.h"

enum { NEAR_SECTORS = (200 << 20) / SECTOR_BYTES, READS = 10000 };
#define SECOND	1000000000ull
#define MS	1000000ull
#define US	1000ull

static uint32_t facts[DRIVE_FACTS];
static struct drive *d;
static ns_t now;

/* A new drive at time 0, with these facts. */
static void take_drive(const struct disk_model *model)
{
	memcpy(facts, model->facts, sizeof(facts));
	now = 0;
}

static void make_drive(void)
{
	CHECK(drive_facts_fault(facts) == NULL);
	d = drive_create("hda", 1, facts, random_u32());
	CHECK(d != NULL);
	now = 0;
}

static void new_drive(const struct disk_model *model)
{
	take_drive(model);
	make_drive();
}

/* Time that a request takes; the clock then stands at its end. */
static ns_t ask(sector_t sector, uint32_t sectors, bool write)
{
	struct model_request r = { sector, sectors, write };
	ns_t took = drive_service_ns(d, &r, now);

	now += took;
	CHECK(drive_check(d) == NULL);
	return took;
}

static sector_t anywhere(sector_t below)
{
	uint64_t draw = (uint64_t)random_u32() << 32 | random_u32();

	return draw % below;
}

/* Requests a second times ten, one after the other, at random within `range` sectors. As on
 * a machine, 100 us go by from the end of one to the next; without, a peer's model and
 * ours both do 171 a second within 200 MB. */
static uint32_t random_rate(sector_t range, uint32_t sectors, bool write)
{
	ns_t start = now;

	for (unsigned n = 0; n < READS; n++) {
		ask(anywhere(range - sectors), sectors, write);
		now += 100 * US;
	}
	return (uint32_t)(10ull * READS * SECOND / (now - start));
}

static void test_sequential(void)
{
	uint32_t kbs;

	new_drive(&model_ata2001);
	for (unsigned n = 0; n < READS; n++)
		ask(n * 256, 256, false);
	kbs = (uint32_t)(READS * 256ull * SECTOR_BYTES * MS / now);
	CHECK(kbs >= 31000 && kbs <= 35000);
	tap_checks("lab-drive-01", "ata2001 reads 31 to 35 MB/s in sequence, outside");
}

static void test_random_reads(void)
{
	uint32_t rate;

	new_drive(&model_ata2001);
	rate = random_rate(d->sectors, 8, false);
	CHECK(rate >= 700 && rate <= 800);
	tap_checks("lab-drive-02", "... 70 to 80 pages a second at random over the whole drive");
	new_drive(&model_ata2001);
	rate = random_rate(NEAR_SECTORS, 8, false);
	CHECK(rate >= 1200 && rate <= 1700);
	tap_checks("lab-drive-03", "... and 120 to 170 within 200 MB");
}

static void test_random_writes(void)
{
	uint32_t rate, buffered;

	take_drive(&model_ata2001);
	facts[FACT_WRITE_BUFFER_KB] = 0;
	make_drive();
	rate = random_rate(d->sectors, 8, true);
	CHECK(rate >= 700 && rate <= 800);
	rate = random_rate(NEAR_SECTORS, 8, true);
	CHECK(rate >= 1200 && rate <= 1700);
	new_drive(&model_ata2001);
	buffered = random_rate(d->sectors, 8, true);
	CHECK(buffered > 1000);	/* it is sorted in there */
	tap_checks("lab-drive-04", "random writes without a buffer are as reads, with it faster");
}

/* ---- Seeks ---- */

/* The mean seek over random pairs of cylinders, in us; the curve rises. */
static uint32_t mean_seek_us(void)
{
	uint64_t sum = 0;
	ns_t last = 0;

	for (unsigned n = 0; n < 200000; n++) {
		uint32_t a = (uint32_t)anywhere(d->cylinders), b = (uint32_t)anywhere(d->cylinders);

		if (a != b)
			sum += drive_seek_ns(d, a < b ? b - a : a - b);
	}
	for (uint32_t distance = 1; distance < d->cylinders; distance++) {
		ns_t seek = drive_seek_ns(d, distance);

		CHECK(seek >= last);
		last = seek;
	}
	return (uint32_t)(sum / 200000 / US);
}

static void check_curve(uint32_t min, uint32_t avg, uint32_t max)
{
	uint32_t mean;

	facts[FACT_SEEK_MIN_US] = min;
	facts[FACT_SEEK_AVG_US] = avg;
	facts[FACT_SEEK_MAX_US] = max;
	make_drive();
	mean = mean_seek_us();
	CHECK(mean > avg - avg / 100 && mean < avg + avg / 100);
	CHECK(drive_seek_ns(d, 1) == min * US);
	CHECK(drive_seek_ns(d, d->cylinders - 1) > (max - max / 100) * US);
	CHECK(drive_seek_ns(d, d->cylinders - 1) <= max * US);
	for (uint32_t beyond = 0; beyond <= 16; beyond++)	/* zones are of equal size */
		CHECK(drive_seek_ns(d, d->cylinders + beyond) >= drive_seek_ns(d, d->cylinders - 1) &&
		      drive_seek_ns(d, d->cylinders + beyond) <= max * US);
}

static void test_seeks(void)
{
	take_drive(&model_ata1999);
	check_curve(1500, 9500, 18000);
	check_curve(1000, 4000, 20000);
	check_curve(100, 9000, 10000);
	check_curve(5000, 5000, 5000);
	take_drive(&model_ata2001);
	check_curve(800, 8500, 15000);
	/* These make p = 1/2 and p = 1: a quarter of the way takes half, or a quarter. */
	facts[FACT_SEEK_MIN_US] = 0;
	facts[FACT_SEEK_AVG_US] = 8000;
	facts[FACT_SEEK_MAX_US] = 15000;
	make_drive();
	CHECK(drive_seek_ns(d, d->cylinders / 4 + 1) / US - 7499 <= 2);
	facts[FACT_SEEK_AVG_US] = 5000;
	make_drive();
	CHECK(drive_seek_ns(d, d->cylinders / 4 + 1) / US - 3749 <= 2);
	tap_checks("lab-drive-05", "seeks rise from the least to the most, and have the mean asked for");
}

static void test_nonsense(void)
{
	static const struct { enum drive_fact fact; uint32_t value; } wrong[] = {
		{ FACT_SEEK_MIN_US, 8500 }, { FACT_SEEK_MIN_US, 20000 },
		{ FACT_SEEK_AVG_US, 15000 }, { FACT_SEEK_AVG_US, 801 },
		{ FACT_SEEK_MAX_US, 8000 }, { FACT_INNER_KBS, 35001 }, { FACT_OUTER_KBS, 20000 },
		{ FACT_INNER_KBS, 100 }, { FACT_RPM, 100000 },
	};

	for (unsigned i = 0; i < ARRAY_LEN(wrong); i++) {
		take_drive(&model_ata2001);
		CHECK(drive_facts_fault(facts) == NULL);
		facts[wrong[i].fact] = wrong[i].value;
		CHECK(drive_facts_fault(facts) != NULL);
	}
	tap_checks("lab-drive-06", "facts that make no drive are told from those that do");
}

/* ---- Buffers ---- */

static ns_t bus(uint32_t sectors)
{
	return 200 * US + (uint64_t)sectors * SECTOR_BYTES * MS / 66000;
}

static void test_read_buffer(void)
{
	ns_t media;

	new_drive(&model_ata2001);
	media = ask(100000, 64, false);
	CHECK(media > bus(64));
	now += 100 * MS;			/* the buffer fills; then the arm rests */
	CHECK(ask(100064, 64, false) == bus(64));
	CHECK(ask(100000 + 64 + 1024 - 8, 8, false) == bus(8));
	CHECK(ask(100000 + 64 + 1024, 8, false) > bus(8));
	CHECK(d->stats.read.requests == 4 && d->stats.read.buffer_hits == 2);
	new_drive(&model_ata2001);
	ask(100000, 64, false);
	CHECK(ask(100064 + 60, 8, false) < 2 * MS);	/* the head is near: no turn is lost */
	ask(200000, 8, true);				/* needs the arm */
	now += 100 * MS;
	CHECK(ask(100600, 8, false) > 2 * MS);
	tap_checks("lab-drive-07", "the drive reads on until its buffer is full or the arm is needed");
}

static void test_write_buffer(void)
{
	ns_t full;

	new_drive(&model_ata2001);
	CHECK(ask(500000, 256, true) == bus(256));
	CHECK(ask(900000, 256, true) == bus(256));
	CHECK(d->dirty_sectors == 512);
	full = ask(1300000, 128, true);	/* the first 64 are on their way out */
	CHECK(full > bus(128) && d->dirty_sectors <= 512);
	CHECK(ask(900100, 8, false) == bus(8) && d->stats.read.buffer_hits == 1);
	CHECK(ask(900250, 16, false) > bus(16));	/* a part of it isn't in the buffer */
	ask(0, 0, true);
	CHECK(d->dirty_sectors == 0 && d->stats.flushes == 1 && d->free_at <= now);
	CHECK(ask(0, 0, true) == 200 * US);
	ask(600000, 8, true);
	now += 100 * MS;
	ask(0, 8, false);
	CHECK(d->dirty_sectors == 0 && d->stats.write.sectors == 256 + 256 + 128 + 8);
	CHECK(ask(700000, 513, true) > bus(513));	/* doesn't fit: ends on the media */
	tap_checks("lab-drive-08", "what fits the write buffer ends there; it empties by itself, for reads, for flush");
}

static void test_extents(void)
{
	new_drive(&model_ata2001);
	ask(40000000, 8, true);			/* keeps the arm busy for a while */
	now += US;
	ask(9000, 8, true);
	CHECK(d->extent_count == 1 && d->free_at > now + 5 * MS);
	ask(9016, 8, true);
	CHECK(d->extent_count == 2);
	ask(9008, 8, true);			/* fills the gap */
	CHECK(d->extent_count == 1 && d->dirty_sectors == 24);
	ask(9004, 8, true);			/* replaced */
	CHECK(d->extent_count == 1 && d->dirty_sectors == 24);
	ask(8992, 8, true);
	CHECK(d->extent_count == 1 && d->dirty_sectors == 32 && d->extents[0].first == 8992);
	tap_checks("lab-drive-09", "extents of the write buffer that touch grow together");
}

/* ---- At random ---- */

static void random_facts(void)
{
	take_drive(shim_random(2) ? &model_ata2001 : &model_ata1999);
	facts[FACT_RPM] = 300 + shim_random(15000);
	facts[FACT_SEEK_MIN_US] = shim_random(5000);
	facts[FACT_SEEK_MAX_US] = facts[FACT_SEEK_MIN_US] + 1000 + shim_random(900000);
	facts[FACT_SEEK_AVG_US] = facts[FACT_SEEK_MIN_US] +
		(facts[FACT_SEEK_MAX_US] - facts[FACT_SEEK_MIN_US]) / 100 * (2 + shim_random(97));
	facts[FACT_HEADS] = 1 + shim_random(255);
	facts[FACT_CAPACITY_MB] = 1 + shim_random(shim_random(2) ? 2000000 : 1000);
	facts[FACT_INNER_KBS] = 5000 + shim_random(5000000);
	facts[FACT_OUTER_KBS] = facts[FACT_INNER_KBS] + shim_random(5000000);
	facts[FACT_READ_BUFFER_KB] = shim_random(3) ? shim_random(4096) : 0;
	facts[FACT_WRITE_BUFFER_KB] = shim_random(3) ? shim_random(4096) : 0;
}

/* Every time is accounted for, and the drive never answers before the bus can. */
static void use_at_random(void)
{
	sector_t range = shim_random(2) ? MIN(d->sectors, 5000ull) : d->sectors;
	ns_t spent = 0;

	for (unsigned n = 0; n < 400; n++) {
		uint32_t sectors = shim_random(20) ? 1 + shim_random(256) : 0;
		sector_t sector = anywhere(range - 256);

		if (shim_random(3) == 0)
			now += shim_random(30 * MS);
		spent += ask(sector, sectors, shim_random(2));
	}
	ask(0, 0, true);
	CHECK(d->extent_count == 0 && d->free_at <= now);
	CHECK(d->stats.read.seek_ns + d->stats.read.rotation_ns + d->stats.read.transfer_ns <= spent);
	CHECK(d->stats.read.requests + d->stats.write.requests + d->stats.flushes == 401);
}

static void test_random_use(void)
{
	for (unsigned n = 0; n < 150; n++) {
		random_facts();
		if (drive_facts_fault(facts))
			continue;
		make_drive();
		if (d->sectors > 1000)
			use_at_random();
	}
	tap_checks("lab-drive-10", "drives of all kinds, asked at random, keep drive.1 and drive.2");
}

static void test_angle(void)
{
	ns_t first, other = 0, same;

	new_drive(&model_ata2001);
	d = drive_create("hda", 1, facts, 1);
	first = ask(123456, 8, false);
	now = 0;
	d = drive_create("hda", 1, facts, 1);
	same = ask(123456, 8, false);
	now = 0;
	d = drive_create("hda", 1, facts, 0x80000000);
	other = ask(123456, 8, false);
	CHECK(first == same && first != other);
	d = drive_create("hda", 200000000, facts, 0);	/* 102 GB on 40 */
	CHECK(d->sectors > 200000000);
	tap_checks("lab-drive-11", "the draw turns the platter; a disk too large makes the drive larger");
}

int main(void)
{
	shim_machine(16u << 20);
	shim_seed(1);			/* rates within bounds are no matter of luck */
	shim_quiet = true;
	test_sequential();
	test_random_reads();
	test_random_writes();
	test_seeks();
	shim_seed(shim_run_seed());
	test_nonsense();
	test_read_buffer();
	test_write_buffer();
	test_extents();
	test_random_use();
	test_angle();
	return tap_done();
}
