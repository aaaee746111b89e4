/* Breaking block.N, queue.N, part.1, ide.1 and drive.N (kernel/breakage.h). */
#include "drivers/block.h"
#include "drivers/ide.h"
#include "drivers/model_drive.h"
#include "drivers/queue.h"
#include "kernel/breakage.h"
#include "kernel/thread.h"

static bool note_device(struct block_dev *d, void *arg)
{
	*(struct block_dev **)arg = d;
	return d->disk == d;		/* a partition ends the search */
}

/* The first partition, or NULL. */
static struct block_dev *partition(void)
{
	struct block_dev *d = NULL;

	block_for_each(note_device, &d);
	return d && d->disk != d ? d : NULL;
}

static struct block_queue *queue(void)
{
	struct block_dev *d = partition();

	return d ? d->queue : NULL;
}

static bool break_done(void)
{
	struct block_queue *q = queue();

	if (!q || q->active)
		return false;
	queue_complete(q, 1, 0);
	return true;
}

static bool break_pool(void)
{
	struct block_queue *q = queue();

	if (q)
		q->free_count++;
	return q;
}

static bool break_waiting(void)
{
	static struct bio b;
	struct block_queue *q = queue();

	if (!q || q->queued || q->active)
		return false;
	b.dev = q->disk;
	list_insert(&q->waiting, &b.link);
	q->pending++;
	return true;
}

/* A request without bios. */
static bool break_request(void)
{
	struct block_queue *q = queue();
	struct request *r;

	if (!q || list_empty(&q->free))
		return false;
	r = list_first(&q->free, struct request, link);
	list_remove(&r->link);
	list_insert(&q->requests, &r->link);
	q->free_count--;
	q->queued++;
	return true;
}

static bool break_pending(void)
{
	struct block_queue *q = queue();

	if (q)
		q->pending++;
	return q;
}

static bool break_partition(void)
{
	struct block_dev *d = partition();

	if (d)
		d->first = d->disk->sectors;
	return d;
}

static bool break_channel(void)
{
	static struct request none;
	struct block_queue *q = queue();
	struct ide_channel *ch = q ? ((struct ide_drive *)q->driver)->channel : NULL;

	if (!ch || ch->state != IDE_IDLE)
		return false;
	irq_save();
	ch->request = &none;
	q->ops->start(q);
	return true;
}

/* The modelled drive of the disk; NULL: it has none that keeps anything. */
static struct drive *drive(void)
{
	struct block_queue *q = queue();

	return q ? q->model : NULL;
}

static bool break_write_buffer(void)
{
	struct drive *d = drive();

	if (d)
		d->dirty_sectors++;
	return d;
}

static bool break_read_buffer(void)
{
	struct drive *d = drive();

	if (d)
		d->first = d->head + 1;
	return d;
}

const struct breakage break_drivers[] = {
	{ "block.2", "ended a bio that nobody has",		break_done },
	{ "queue.1", "counted one free request too many",	break_pool },
	{ "queue.2", "let a bio wait for nothing",		break_waiting },
	{ "queue.3", "queued a request without bios",		break_request },
	{ "queue.4", "counted one bio too many",		break_pending },
	{ "part.1",  "moved a partition behind its disk",	break_partition },
	{ "ide.1",   "gave an idle channel a request",		break_channel },
	{ "drive.1", "counted one dirty sector too many",	break_write_buffer },
	{ "drive.2", "let a read buffer end before it begins",	break_read_buffer },
	{ NULL, NULL, NULL }
};
