/* Bios that check themselves, for tests of the block layer. A program includes it once. */
#ifndef DISKJOBS_H
#define DISKJOBS_H

#include "memdisk.h"

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
