/*
 * What the block layer tells of itself: report lines, rows for sysinfo, the check of the
 * audit. Reads the devices through block_for_each(), like everybody else.
 */
#include "drivers/block.h"
#include "drivers/model.h"
#include "drivers/queue.h"
#include "kernel/abi/sysinfo.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "mm/audit.h"

static bool report_disk(struct block_dev *d, void *arg)
{
	const struct queue_stats *s = &d->queue->stats;
	const struct { const char *field; uint64_t value; } rows[] = {
		{ "sectors", d->sectors }, { "dma", d->queue->dma },
		{ "reads", s->requests[REQUEST_READ] },
		{ "writes", s->requests[REQUEST_WRITE] },
		{ "read_sectors", s->sectors[REQUEST_READ] },
		{ "write_sectors", s->sectors[REQUEST_WRITE] },
		{ "flushes", s->flushes }, { "merges", s->merges }, { "waits", s->waits },
		{ "errors", s->errors }, { "retries", s->retries }, { "resets", s->resets },
		{ "timeouts", s->timeouts }, { "lost_interrupts", s->lost_interrupts },
		{ "busy_ns", s->busy_ns },
	};

	(void)arg;
	if (d->disk != d)
		return true;
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		report("@disk %s %s %llu\n", d->name, rows[i].field,
		       (unsigned long long)rows[i].value);
	model_report(d);
	return true;
}

void block_report(void)
{
	block_for_each(report_disk, NULL);
}

struct row_buffer {
	struct abi_disk_row *rows;
	unsigned count, max;
};

static bool add_row(struct block_dev *d, void *arg)
{
	struct row_buffer *buffer = arg;
	const struct queue_stats *s = &d->queue->stats;
	struct abi_disk_row *row = &buffer->rows[buffer->count];

	if (d->disk != d)
		return true;
	if (buffer->count == buffer->max)
		return false;
	memset(row, 0, sizeof(*row));
	strlcpy(row->name, d->name, sizeof(row->name));
	row->mode = d->queue->dma;
	row->errors = (uint32_t)s->errors;
	row->sectors = d->sectors;
	row->reads = s->requests[REQUEST_READ];
	row->writes = s->requests[REQUEST_WRITE];
	row->read_sectors = s->sectors[REQUEST_READ];
	row->write_sectors = s->sectors[REQUEST_WRITE];
	row->busy_ns = s->busy_ns;
	buffer->count++;
	return true;
}

/* Fill at most `max` rows, one a disk. Returns how many. */
unsigned block_rows(struct abi_disk_row *rows, unsigned max)
{
	struct row_buffer buffer = { rows, 0, max };

	block_for_each(add_row, &buffer);
	return buffer.count;
}

static bool check_device(struct block_dev *d, void *arg)
{
	unsigned *bad = arg;

	if (d->disk == d)
		*bad += queue_check(d->queue) + model_check(d);
	else if (!d->broken && (d->first == 0 || d->sectors == 0 ||
				d->first + d->sectors > d->disk->sectors))
		*bad += audit_violation("part.1", "%s: not inside %s", d->name,
					d->disk->name);
	return true;
}

/* Check that partitions lie in their disks, and all queues. Prints each violation. */
unsigned block_check(void)
{
	unsigned bad = 0;

	block_for_each(check_device, &bad);
	return bad;
}
