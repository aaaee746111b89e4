/*
 * Swap partitions in memory. A transfer is copied when it ends, not when it is submitted, so
 * that a page that is changed or reused too early spoils the data.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "machine.h"
#include "mm/swap/area.h"
#include "shim.h"

enum { PENDING_MAX = 512 };

static struct host_disk {
	struct block_dev whole, part;
	uint8_t		*data;
} disks[DISKS];
static unsigned disk_count;
static struct bio *pending[PENDING_MAX];	/* by age */
static unsigned pending_count;
static uint32_t bad_slot_salt;
struct disk_errors disk_errors;

static void write_header(uint8_t *page, uint32_t slots, uint8_t n)
{
	uint32_t words[3] = { 1, slots - 1, 0 };

	memset(page, 0, PAGE_SIZE);
	memcpy(page + 1024, words, sizeof(words));
	page[1036] = n;			/* its UUID */
	memcpy(page + 4086, "SWAPSPACE2", 10);
}

void disks_start(const struct machine_shape *shape)
{
	disk_count = shape->disks;
	pending_count = 0;
	bad_slot_salt = shim_random(UINT32_MAX);
	for (unsigned i = 0; i < disk_count; i++) {
		struct host_disk *d = &disks[i];

		d->data = malloc((size_t)shape->slots[i] * PAGE_SIZE);
		memset(d->data, 0x5c, (size_t)shape->slots[i] * PAGE_SIZE);
		write_header(d->data, shape->slots[i], (uint8_t)(i + 1));
		d->whole = (struct block_dev){ .disk = &d->whole };
		d->part = (struct block_dev){ .disk = &d->whole, .type = 0x82,
					      .sectors = shape->slots[i] * SECTORS_PER_PAGE };
		strlcpy(d->part.name, (const char *[]){ "hda1", "hdb1", "hdc1" }[i],
			sizeof(d->part.name));
	}
}

void disks_stop(void)
{
	CHECK(pending_count == 0);
	for (unsigned i = 0; i < disk_count; i++) {
		CHECK(!disks[i].part.claimed);
		free(disks[i].data);
	}
	disk_errors = (struct disk_errors){ 0 };
}

const char *disk_name(unsigned n)
{
	return disks[n % disk_count].part.name;
}

bool disk_in_use(unsigned n)
{
	return disks[n % disk_count].part.claimed;
}

/* ---- Transfers ---- */

static bool slot_is_bad(const struct bio *b)
{
	uint32_t h = (uint32_t)b->sector * 2654435761u ^ bad_slot_salt ^ (uint8_t)b->dev->name[2];

	h ^= h >> 15;
	return h * 2246822519u % 1000 < disk_errors.bad_slots;
}

static bool fails(const struct bio *b)
{
	uint32_t rate = b->write ? disk_errors.writes : disk_errors.reads;

	return slot_is_bad(b) || (rate > 0 && shim_random(1000) < rate);
}

static void move(struct bio *b)
{
	struct host_disk *d = container_of(b->dev, struct host_disk, part);
	uint8_t *at = d->data + b->sector * SECTOR_BYTES;

	if (b->write)
		memcpy(at, b->buffer, b->sectors * SECTOR_BYTES);
	else
		memcpy(b->buffer, at, b->sectors * SECTOR_BYTES);
}

/* The oldest one that has the sectors of pending[n]: order is kept where it matters. */
static unsigned oldest_like(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (pending[i]->dev == pending[n]->dev && pending[i]->sector == pending[n]->sector)
			return i;
	return n;
}

bool disk_work(void)
{
	struct bio *b;
	bool failed;
	unsigned n;

	if (pending_count == 0)
		return false;
	n = oldest_like(shim_random(pending_count));
	b = pending[n];
	memmove(&pending[n], &pending[n + 1], (pending_count - n - 1) * sizeof(b));
	pending_count--;
	failed = fails(b);
	b->error = failed && !(disk_errors.lies && !b->write) ? -EIO : OK;
	if (!failed)
		move(b);
	b->done(b);
	return true;
}

/* ---- The block layer's calls ---- */

void block_submit(struct bio *b)
{
	KASSERT2(b->sector + b->sectors <= b->dev->sectors, "block.1", b->sector, b->sectors);
	KASSERT2(pending_count < PENDING_MAX, "host disk: pending", pending_count, 0);
	pending[pending_count++] = b;
}

/* The header isn't drawn to fail: areas would be refused, and nothing tested. */
int block_transfer(struct block_dev *dev, sector_t sector, void *buffer, uint32_t sectors,
		   bool write)
{
	struct bio b = { .dev = dev, .sector = sector, .sectors = sectors, .buffer = buffer,
			 .write = write };

	move(&b);
	return OK;
}

void block_plug(void) { }
void block_unplug(void) { }
unsigned block_check(void) { return 0; }
unsigned block_pending(const struct block_dev *dev) { (void)dev; return pending_count; }

void block_wait_congestion(unsigned ms)
{
	(void)ms;
	for (unsigned i = 0; i < 16 && disk_work(); i++)
		continue;
}

struct block_dev *block_find(const char *name)
{
	for (unsigned i = 0; i < disk_count; i++)
		if (!strcmp(disks[i].part.name, name))
			return &disks[i].part;
	return NULL;
}

void block_for_each(bool (*fn)(struct block_dev *dev, void *arg), void *arg)
{
	for (unsigned i = 0; i < disk_count; i++)
		if (!fn(&disks[i].part, arg))
			return;
}
