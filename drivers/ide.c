/*
 * IDE channels: the life of a request, from the queue to its completion. The states are
 * drawn in drivers/ide.h. Errors: a command that fails is tried again; a request of several
 * bios that fails twice is done bio by bio, so that only the bad ones fail; the last of
 * IDE_RETRIES comes after a reset and by PIO, so that a fault of DMA is told from one of the
 * disk; after IDE_DMA_FAILURES of those the drive stays with PIO. What timed out is reset
 * before it is tried again.
 */
#include "drivers/ide.h"
#include "drivers/model.h"
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/cpu.h"
#include "kernel/panic.h"
#include "kernel/printk.h"

enum {
	IDE_RETRIES = 3,
	IDE_RETRIES_MERGED = 1,		/* then bio by bio */
	IDE_DMA_FAILURES = 3,
	IDE_TIMEOUTS_MAX = 8,		/* in a row; then the drive is given up */
	IDE_COMPLAINTS_MAX = 20,
};
#define IDE_POLL_NS	(500 * NS_PER_MS)	/* look whether an interrupt was lost */
#define IDE_SUSPECT_NS	(20 * NS_PER_MS)	/* ... or is only late */
#define IDE_LIMIT_NS	(10 * NS_PER_SECOND)	/* a drive at rest needs some to spin up */
#define IDE_FLUSH_NS	(30 * NS_PER_SECOND)
#define IDE_RESET_POLL_NS (10 * NS_PER_MS)
#define IDE_RESET_NS	(31 * NS_PER_SECOND)	/* ATA/ATAPI-6, 9.2: time to clear BSY */

static void start(struct block_queue *q);

struct ide_channel ide_channels[IDE_CHANNELS];
const struct disk_ops ide_ops = { .name = "ide", .start = start };

/* ---- Spans: the part of a request that one command moves ---- */

/* All bios that are left, or the first one. */
static void begin_span(struct ide_channel *ch)
{
	struct request *r = ch->request;

	ch->span_bios = ch->single ? 1 : r->bio_count;
	ch->span_sectors = r->sectors;
	if (ch->span_bios == 1)
		ch->span_sectors = list_first(&r->bios, struct bio, link)->sectors;
	ch->tries = 0;
	ch->pio_only = false;
	ch->state = IDE_READY;
}

/* The channel is idle: take the next request, the drives in turn. */
static bool take_request(struct ide_channel *ch)
{
	for (unsigned i = 0; i < IDE_UNITS; i++) {
		struct ide_drive *d = &ch->drives[(ch->turn + i) % IDE_UNITS];
		struct request *r = d->queue ? queue_next(d->queue) : NULL;

		if (!r)
			continue;
		ch->turn = d->unit + 1;
		ch->drive = d;
		ch->request = r;
		ch->single = false;
		begin_span(ch);
		return true;
	}
	return false;
}

/* The span's bios are done. Their done() may submit more; `busy` keeps that from starting
 * this channel before its state is true again. */
static void end_span(struct ide_channel *ch, int error)
{
	bool was_busy = ch->busy;

	timer_cancel(&ch->timer);
	ch->busy = true;
	if (queue_complete(ch->drive->queue, ch->span_bios, error)) {
		begin_span(ch);
	} else {
		ch->state = IDE_IDLE;
		ch->request = NULL;
	}
	ch->busy = was_busy;
}

/* ---- Errors ---- */

static const char *verb(const struct request *r)
{
	static const char *const verbs[] = { "read", "write", "flush" };

	return verbs[r->kind];
}

/* DMA failed where PIO did it, or by itself. */
static void dma_failed(struct ide_drive *d)
{
	if (!d->dma || ++d->dma_failures < IDE_DMA_FAILURES)
		return;
	printk("ide: %s: DMA failed %u times, going on with PIO\n", d->name, d->dma_failures);
	d->dma = d->queue->dma = false;
}

static void give_up(struct ide_drive *d)
{
	if (!d->queue || d->dead)
		return;
	d->dead = true;
	printk("ide: %s: doesn't answer any more, given up\n", d->name);
}

/* All tries of a single bio are used up. */
static void fail_span(struct ide_channel *ch)
{
	struct ide_drive *d = ch->drive;
	struct request *r = ch->request;
	bool timeout = ch->cause == IDE_CAUSE_TIMEOUT;

	d->queue->stats.errors++;
	COUNT(disk_errors);
	if (d->complaints++ < IDE_COMPLAINTS_MAX)
		printk("ide: %s: %s error at sector %llu (%u from %llu), status %02x, "
		       "error %02x%s\n", d->name, verb(r),
		       (unsigned long long)(timeout ? r->sector : ide_failed_sector(ch)),
		       ch->span_sectors, (unsigned long long)r->sector, ch->status,
		       ch->error, timeout ? ", no answer" : "");
	end_span(ch, -EIO);
}

static void count_timeout(struct ide_channel *ch)
{
	struct ide_drive *d = ch->drive;

	d->queue->stats.timeouts++;
	if (d->complaints++ < IDE_COMPLAINTS_MAX)
		printk("ide: %s: %s at sector %llu: no answer\n", d->name, verb(ch->request),
		       (unsigned long long)ch->request->sector);
	if (++d->timeouts >= IDE_TIMEOUTS_MAX)
		give_up(d);
}

/* The command failed, ch->cause says how. Decide what comes next: again, again in parts,
 * or the error goes to the bio. */
static void command_failed(struct ide_channel *ch)
{
	struct ide_drive *d = ch->drive;
	unsigned limit = ch->span_bios > 1 ? IDE_RETRIES_MERGED : IDE_RETRIES;

	timer_cancel(&ch->timer);
	ide_command_abort(ch);
	if (ch->cause == IDE_CAUSE_TIMEOUT)
		count_timeout(ch);
	if (ch->cause != IDE_CAUSE_ERROR && ch->protocol == IDE_PROTOCOL_DMA)
		dma_failed(d);
	ch->tries++;
	ch->reset_wanted = ch->cause == IDE_CAUSE_TIMEOUT || ch->tries == IDE_RETRIES;
	if (ch->span_bios == 1 && (ch->tries > limit || d->dead)) {
		fail_span(ch);
		return;
	}
	d->queue->stats.retries++;
	COUNT(disk_retries);
	ch->state = IDE_READY;
	if (ch->tries > limit || d->dead) {
		ch->single = true;
		begin_span(ch);
	} else {
		ch->pio_only = ch->span_bios == 1 && ch->tries == limit;
	}
}

/* ---- Reset ---- */

void ide_reset_begin(struct ide_channel *ch)
{
	outb(ch->control, CONTROL_RESET | CONTROL_NO_INTERRUPT);
	delay_us(10);				/* 5 us at least */
	outb(ch->control, CONTROL_NO_INTERRUPT);
}

void ide_reset_end(struct ide_channel *ch)
{
	for (unsigned i = 0; i < IDE_UNITS; i++)
		if (ch->drives[i].queue && !ch->drives[i].dead)
			ide_drive_setup(&ch->drives[i]);
	outb(ch->control, 0);
}

/* The drives are ready again, or won't ever be. */
static void reset_done(struct ide_channel *ch, bool ready)
{
	timer_cancel(&ch->timer);
	ch->state = IDE_READY;
	for (unsigned i = 0; i < IDE_UNITS && !ready; i++)
		give_up(&ch->drives[i]);
}

static void reset(struct ide_channel *ch)
{
	ch->reset_wanted = false;
	ch->drive->queue->stats.resets++;
	ch->state = IDE_RESETTING;
	if (lab_mode()) {
		reset_done(ch, ide_lab_reset(ch));
		return;
	}
	ide_reset_begin(ch);
	ch->deadline = clock_ns() + IDE_RESET_NS;
	timer_set(&ch->timer, clock_ns() + IDE_RESET_POLL_NS);
}

static void reset_poll(struct ide_channel *ch)
{
	if (!(inb(ch->control) & STATUS_BUSY)) {
		ide_reset_end(ch);
		reset_done(ch, true);
	} else if (clock_ns() >= ch->deadline) {
		reset_done(ch, false);
	} else {
		timer_set(&ch->timer, clock_ns() + IDE_RESET_POLL_NS);
	}
}

/* ---- Commands ---- */

void ide_model(struct ide_channel *ch)
{
	const struct request *r = ch->request;
	struct model_request m = { r->sector, ch->span_sectors, r->kind != REQUEST_READ };

	ch->service = model_service_ns(ch->drive->queue->disk, &m, ch->started);
}

/* The transfer is over; the request is when the modelled drive's time is. In the lab a
 * timer ends it always, so that done() never runs inside block_submit(). */
static void command_done(struct ide_channel *ch)
{
	struct ide_drive *d = ch->drive;

	d->timeouts = 0;
	if (ch->pio_only)
		dma_failed(d);
	if (!lab_mode())
		ide_model(ch);
	if (ch->service == 0 && !lab_mode()) {
		end_span(ch, OK);
		return;
	}
	ch->state = IDE_DELAY;
	timer_set(&ch->timer, ch->started + ch->service);
}

static void progress(struct ide_channel *ch, enum ide_progress p)
{
	if (p == IDE_DONE)
		command_done(ch);
	else if (p == IDE_FAILED)
		command_failed(ch);
}

/* Set the limit for the command's next step. */
static void set_deadline(struct ide_channel *ch)
{
	ch->deadline = clock_ns() + (ch->request->kind == REQUEST_FLUSH ? IDE_FLUSH_NS
									: IDE_LIMIT_NS);
}

static void issue(struct ide_channel *ch)
{
	struct ide_drive *d = ch->drive;

	if (d->dead) {
		d->queue->stats.errors++;
		COUNT(disk_errors);
		end_span(ch, -EIO);
		return;
	}
	if (ch->request->kind == REQUEST_FLUSH && !d->id.flush && !d->id.flush_ext) {
		end_span(ch, OK);
		return;
	}
	if (ch->reset_wanted) {
		reset(ch);
		return;
	}
	ch->started = clock_ns();
	ch->suspect = false;
	ch->state = IDE_RUNNING;
	if (lab_mode()) {
		progress(ch, ide_lab_command(ch));
		return;
	}
	set_deadline(ch);
	timer_set(&ch->timer, ch->started + IDE_POLL_NS);
	progress(ch, ide_command_start(ch));
}

/* Go on with the channel as far as possible without waiting. */
static void run(struct ide_channel *ch)
{
	if (ch->busy)
		return;
	ch->busy = true;
	while (ch->state == IDE_READY || (ch->state == IDE_IDLE && take_request(ch)))
		issue(ch);
	ch->busy = false;
	KASSERT((ch->state != IDE_IDLE) == (ch->request != NULL), "ide.1");
}

static void start(struct block_queue *q)
{
	struct ide_drive *d = q->driver;

	run(d->channel);
}

/* ---- Interrupts and time ---- */

/* One step of the running command, and the limit for the next one. */
static void step(struct ide_channel *ch)
{
	set_deadline(ch);
	ch->suspect = false;
	progress(ch, ide_command_continue(ch));
	run(ch);
}

void ide_interrupt(unsigned irq, void *arg)
{
	struct ide_channel *ch = arg;

	(void)irq;
	if (lab_mode()) {
		ch->interrupted = true;
		return;
	}
	if (ch->state != IDE_RUNNING)
		(void)inb((uint16_t)(ch->command + IDE_STATUS));
	else if (ide_command_due(ch))
		step(ch);
}

/* The drive was ready at two looks, with interrupts on between them: its interrupt was
 * lost. Go on without, if there is something to go on with. */
static void replace_interrupt(struct ide_channel *ch)
{
	uint32_t left = ch->left;
	enum ide_progress p = ide_command_continue(ch);

	if (p == IDE_MORE && ch->left == left)
		return;
	if (ch->drive->queue->stats.lost_interrupts++ == 0)
		printk("ide: %s: an interrupt was lost\n", ch->drive->name);
	set_deadline(ch);
	ch->suspect = false;
	progress(ch, p);
}

/* The command runs for long. Look how it does; a drive that is ready may have its
 * interrupt wait behind the timer's, so it is looked at once more. */
static void check_running(struct ide_channel *ch)
{
	ns_t now = clock_ns();

	timer_set(&ch->timer, now + IDE_POLL_NS);
	if (now >= ch->deadline) {
		ch->status = inb(ch->control);
		ch->cause = IDE_CAUSE_TIMEOUT;
		command_failed(ch);
	} else if (ide_command_due(ch)) {
		if (ch->suspect) {
			replace_interrupt(ch);
			return;
		}
		ch->suspect = true;
		timer_set(&ch->timer, now + IDE_SUSPECT_NS);
	}
}

void ide_timer(struct timer *t)
{
	struct ide_channel *ch = container_of(t, struct ide_channel, timer);

	switch (ch->state) {
	case IDE_RUNNING:
		check_running(ch);
		break;
	case IDE_RESETTING:
		reset_poll(ch);
		break;
	case IDE_DELAY:
		end_span(ch, OK);
		break;
	case IDE_IDLE:
	case IDE_READY:
		break;
	}
	run(ch);
}
