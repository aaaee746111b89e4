/*
 * Block devices: the list of disks and partitions, the way of a bio into its disk's queue,
 * and the few things built upon it (synchronous transfers, flush, congestion, figures).
 * Requests and their order are drivers/queue.c's, the hardware is a driver's.
 *
 * Plugging: while some thread has the queues plugged, an idle disk isn't started, so that
 * the bios that follow can merge. It ends with the last block_unplug(), when no
 * request is free, or after PLUG_LIMIT_NS, so that a thread that sleeps while it holds the
 * plug can't stop the others.
 */
#include "drivers/block.h"
#include "drivers/ide.h"
#include "drivers/model.h"
#include "drivers/partition.h"
#include "drivers/pci.h"
#include "drivers/queue.h"
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "mm/slab.h"

#define PLUG_LIMIT_NS	(3 * NS_PER_MS)		/* as in Linux 2.6 */
enum { TRANSFER_BIOS = 8, COMPLAINTS_MAX = 20 };

static struct list devices = LIST_INIT(devices);	/* disks first; constant after boot */
static unsigned plug_depth;				/* interrupts off */
static struct timer plug_timer;
static unsigned requests_freed;				/* interrupts off; wraps */
static struct waitq congestion = WAITQ_INIT(congestion);

/* ---- Starting and plugging ---- */

/* Start the queue's driver if it is idle, unless the plug holds it back. */
static void start(struct block_queue *q)
{
	uint32_t flags = irq_save();
	bool full;

	if (queue_idle_with_work(q, &full)) {
		if (plug_depth > 0 && !full) {
			if (list_empty(&plug_timer.link))
				timer_set(&plug_timer, clock_ns() + PLUG_LIMIT_NS);
			q->plugged = true;
		} else {
			q->ops->start(q);
		}
	}
	irq_restore(flags);
}

/* Start everything that the plug held back. Interrupts off. */
static void start_plugged(void)
{
	struct block_dev *d;

	list_for_each(d, &devices, link) {
		if (d->disk != d || !d->queue->plugged)
			continue;
		d->queue->plugged = false;
		d->queue->ops->start(d->queue);
	}
}

static void plug_expired(struct timer *t)
{
	(void)t;
	start_plugged();
}

void block_plug(void)
{
	uint32_t flags = irq_save();

	plug_depth++;
	irq_restore(flags);
}

void block_unplug(void)
{
	uint32_t flags = irq_save();

	KASSERT(plug_depth > 0, "block: unplug without plug");
	if (--plug_depth == 0) {
		timer_cancel(&plug_timer);
		start_plugged();
	}
	irq_restore(flags);
}

/* ---- Submitting ---- */

/* Counters pgpgin and pgpgout are in KiB; the odd sector waits for its other half. */
static void count_bio(const struct bio *b)
{
	static uint32_t odd[2];
	uint32_t sectors = b->sectors + odd[b->write];

	odd[b->write] = sectors % 2;
	if (b->write)
		COUNT_ADD(pgpgout, sectors / 2);
	else
		COUNT_ADD(pgpgin, sectors / 2);
}

/* True if writing [first, first + sectors) of the whole disk touches a claimed partition. */
static bool touches_claimed(const struct block_dev *disk, sector_t first, uint32_t sectors)
{
	const struct block_dev *d;

	list_for_each(d, &devices, link)
		if (d->disk == disk && d != disk && d->claimed &&
		    first < d->first + d->sectors && d->first < first + sectors)
			return true;
	return false;
}

/* Why a bio can't be done at all (block.1); NULL if it can. */
static const char *bio_fault(const struct bio *b)
{
	const struct block_dev *d = b->dev;

	if (b->sectors == 0 || b->sectors > SECTORS_PER_PAGE)
		return "length out of range";
	if (b->sector >= d->sectors || b->sectors > d->sectors - b->sector)
		return "beyond the end of the device";
	if (d->broken)
		return "the partition was refused";
	if (b->write && d->disk == d && touches_claimed(d, b->sector, b->sectors))
		return "a partition there is in use";
	return NULL;
}

void block_submit(struct bio *b)
{
	static unsigned complaints;
	const char *fault = bio_fault(b);
	uint32_t flags;

	b->error = OK;
	if (fault) {
		if (complaints++ < COMPLAINTS_MAX)
			printk("block: %s: %s of %u sectors at %llu refused: %s\n",
			       b->dev->name, b->write ? "write" : "read", b->sectors,
			       (unsigned long long)b->sector, fault);
		b->error = -EIO;
		flags = irq_save();
		b->done(b);
		irq_restore(flags);
		return;
	}
	flags = irq_save();
	count_bio(b);
	irq_restore(flags);
	queue_add(b->dev->queue, b);
	start(b->dev->queue);
}

/* ---- Waiting for bios ---- */

/* Bios that one thread waits for. Lives on its stack. */
struct gather {
	unsigned     left;		/* interrupts off */
	int	     error;		/* the first one */
	struct waitq done;
};

static void gather_done(struct bio *b)
{
	struct gather *g = b->private;

	if (b->error && !g->error)
		g->error = b->error;
	if (--g->left == 0)
		waitq_wake_all(&g->done);
}

/* Wait until all are done. Not killable: the bios and their buffers are the caller's, and
 * the driver's time limits bound the wait. */
static int gather_wait(struct gather *g)
{
	wait_event(&g->done, g->left == 0, SLEEP_UNKILLABLE, 0, "disk");
	return g->error;
}

static void gather_bio(struct gather *g, struct bio *b, struct block_dev *dev, bool write)
{
	b->dev = dev;
	b->write = write;
	b->done = gather_done;
	b->private = g;
	g->left++;
}

/* One part of a transfer, at most TRANSFER_BIOS pages. */
static int transfer_part(struct block_dev *dev, sector_t sector, void *buffer,
			 uint32_t sectors, bool write)
{
	struct bio bios[TRANSFER_BIOS];
	struct gather g = { 0 };
	unsigned count = 0;
	uint32_t done = 0;

	waitq_init(&g.done);
	for (; done < sectors; count++) {
		struct bio *b = &bios[count];

		b->sector = sector + done;
		b->sectors = MIN(sectors - done, SECTORS_PER_PAGE);
		b->buffer = (char *)buffer + done * SECTOR_BYTES;
		gather_bio(&g, b, dev, write);
		done += b->sectors;
	}
	block_plug();
	for (unsigned i = 0; i < count; i++)
		block_submit(&bios[i]);
	block_unplug();
	return gather_wait(&g);
}

int block_transfer(struct block_dev *dev, sector_t sector, void *buffer,
		   uint32_t sectors, bool write)
{
	int error = OK;

	while (sectors > 0 && error == OK) {
		uint32_t part = MIN(sectors, (uint32_t)TRANSFER_BIOS * SECTORS_PER_PAGE);

		error = transfer_part(dev, sector, buffer, part, write);
		sector += part;
		sectors -= part;
		buffer = (char *)buffer + part * SECTOR_BYTES;
	}
	return error;
}

int block_flush(struct block_dev *dev)
{
	struct gather g = { 0 };
	struct bio b = { .sector = 0, .sectors = 0, .error = OK };

	waitq_init(&g.done);
	gather_bio(&g, &b, dev->disk, true);
	queue_add(dev->queue, &b);
	start(dev->queue);
	return gather_wait(&g);
}

/* ---- Congestion ---- */

unsigned block_pending(const struct block_dev *dev)
{
	return dev->queue->pending;
}

void block_request_freed(struct block_queue *q)
{
	(void)q;
	requests_freed++;
	waitq_wake_all(&congestion);
}

static bool nothing_pending(void)
{
	const struct block_dev *d;

	list_for_each(d, &devices, link)
		if (d->disk == d && d->queue->pending > 0)
			return false;
	return true;
}

void block_wait_congestion(unsigned ms)
{
	unsigned before = requests_freed;
	ns_t deadline = clock_ns() + ms * NS_PER_MS;

	wait_event(&congestion, requests_freed != before || nothing_pending(),
		   SLEEP_KILLABLE, deadline, "congestion");
}

/* ---- Devices ---- */

struct block_dev *block_find(const char *name)
{
	struct block_dev *d;

	list_for_each(d, &devices, link)
		if (strcmp(d->name, name) == 0)
			return d;
	return NULL;
}

void block_for_each(bool (*fn)(struct block_dev *dev, void *arg), void *arg)
{
	struct block_dev *d;

	list_for_each(d, &devices, link)
		if (!fn(d, arg))
			return;
}

struct block_dev *block_add_disk(const char *name, sector_t sectors,
				 const struct disk_ops *ops, void *driver)
{
	struct block_dev *d = kmalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return NULL;
	*d = (struct block_dev){ .disk = d, .sectors = sectors };
	strlcpy(d->name, name, sizeof(d->name));
	d->queue = queue_create(d, ops, driver);
	if (!d->queue) {
		kfree(d);
		return NULL;
	}
	model_attach(d);
	list_insert_tail(&devices, &d->link);
	return d;
}

static void add_partition(struct block_dev *disk, const struct partition *p)
{
	struct block_dev *d;

	printk("block:  %s%u: type %02x, sectors %llu to %llu%s%s%s\n", disk->name, p->number,
	       p->type, (unsigned long long)p->first,
	       (unsigned long long)(p->first + p->sectors),
	       p->extended ? ", extended" : "", p->fault ? ", refused: " : "",
	       p->fault ? p->fault : "");
	if (p->extended)
		return;
	d = kmalloc(sizeof(*d), GFP_KERNEL);
	if (!d) {
		printk("block:  %s%u: no memory for it\n", disk->name, p->number);
		return;
	}
	*d = (struct block_dev){ .disk = disk, .first = p->first, .sectors = p->sectors,
				 .type = p->type, .broken = p->fault != NULL,
				 .queue = disk->queue };
	ksnprintf(d->name, sizeof(d->name), "%s%u", disk->name, p->number);
	list_insert_tail(&devices, &d->link);
}

static int read_sector(void *arg, sector_t sector, void *buffer)
{
	return block_transfer(arg, sector, buffer, 1, false);
}

/* Read the partition table of `disk` and enter what is in it. */
static void add_partitions(struct block_dev *disk, struct partition_table *t)
{
	int error = partition_scan(read_sector, disk, disk->sectors, t);

	if (error)
		printk("block: %s: the partition table can't be read\n", disk->name);
	else if (t->refused)
		printk("block: %s: partition table refused: %s\n", disk->name, t->refused);
	else if (t->count == 0)
		printk("block: %s: no partitions\n", disk->name);
	for (unsigned i = 0; !error && i < t->count; i++)
		add_partition(disk, &t->entries[i]);
}

void block_init(void)
{
	struct partition_table *t = kmalloc(sizeof(*t), GFP_KERNEL);
	struct block_dev *d, *next;

	timer_init(&plug_timer, plug_expired);
	model_init();
	pci_init();
	ide_init();
	if (!t) {
		printk("block: no memory to read partition tables\n");
		return;
	}
	list_for_each_safe(d, next, &devices, link)
		if (d->disk == d)
			add_partitions(d, t);
	kfree(t);
}
