/*
 * One IDE command: the registers, the PIO blocks in interrupt context, the PRD table of the
 * bus master. Which command, and what becomes of it, is drivers/ide.c's.
 */
#include "drivers/ide.h"
#include "kernel/cpu.h"
#include "mm/page.h"

/* How long a drive that has nothing to do may take to be ready for a command, or for the
 * first block of a write. */
enum { IDE_READY_US = 50000 };
enum { PRD_BOUNDARY = 64 << 10 };

/* ---- PIO ---- */

/* Move the next `sectors` between the drive's buffer and the bios. */
static void move_sectors(struct ide_channel *ch, uint32_t sectors, bool in)
{
	uint16_t port = (uint16_t)(ch->command + IDE_DATA);

	ch->left -= sectors;
	while (sectors-- > 0) {
		char *at = (char *)ch->bio->buffer + ch->bio_sector * SECTOR_BYTES;

		if (in)
			insw(port, at, IDE_SECTOR_WORDS);
		else
			outsw(port, at, IDE_SECTOR_WORDS);
		if (++ch->bio_sector == ch->bio->sectors) {
			ch->bio = list_entry(ch->bio->link.next, struct bio, link);
			ch->bio_sector = 0;
		}
	}
}

static enum ide_progress failed(struct ide_channel *ch, enum ide_cause cause)
{
	ch->cause = cause;
	return IDE_FAILED;
}

/* Read the status, which clears the interrupt. True if it is an error. */
static bool read_status(struct ide_channel *ch)
{
	ch->status = inb((uint16_t)(ch->command + IDE_STATUS));
	if (!(ch->status & (STATUS_ERROR | STATUS_FAULT)))
		return false;
	ch->error = inb((uint16_t)(ch->command + IDE_ERROR));
	return true;
}

/* A block is ready in the drive. After the last one no interrupt follows. */
static enum ide_progress continue_in(struct ide_channel *ch)
{
	if (read_status(ch))
		return failed(ch, IDE_CAUSE_ERROR);
	if (!(ch->status & STATUS_DRQ))
		return IDE_MORE;
	move_sectors(ch, MIN(ch->left, ch->block), true);
	return ch->left > 0 ? IDE_MORE : IDE_DONE;
}

/* The drive has taken a block; after the last one it has also written all of them. */
static enum ide_progress continue_out(struct ide_channel *ch)
{
	if (read_status(ch))
		return failed(ch, IDE_CAUSE_ERROR);
	if (ch->left == 0)
		return IDE_DONE;
	if (ch->status & STATUS_DRQ)
		move_sectors(ch, MIN(ch->left, ch->block), false);
	return IDE_MORE;
}

/* ---- DMA ---- */

/* Enter [address, address + bytes), cut where it crosses a 64 KiB boundary. */
static unsigned add_prd(struct ide_prd *prd, unsigned n, paddr_t address, uint32_t bytes)
{
	while (bytes > 0) {
		uint32_t part = MIN(bytes, PRD_BOUNDARY - address % PRD_BOUNDARY);

		prd[n++] = (struct ide_prd){ address, (uint16_t)part, 0 };
		address += part;
		bytes -= part;
	}
	return n;
}

/* Fill the PRD table from the span. False: a buffer lies at an odd address, which the
 * bus master can't do. */
static bool build_prds(struct ide_channel *ch)
{
	struct bio *b = list_first(&ch->request->bios, struct bio, link);
	unsigned n = 0;

	for (unsigned i = 0; i < ch->span_bios; i++) {
		paddr_t address = (paddr_t)((uintptr_t)b->buffer - KERNEL_BASE);

		if (address % 2 != 0)
			return false;
		n = add_prd(ch->prd, n, address, b->sectors * SECTOR_BYTES);
		b = list_entry(b->link.next, struct bio, link);
	}
	ch->prd[n - 1].flags = IDE_PRD_LAST;
	return true;
}

static uint16_t bm_port(const struct ide_channel *ch, unsigned reg)
{
	return (uint16_t)(ch->bus_master + reg);
}

/* Point the bus master to the table; interrupt and error bits are cleared by ones. */
static void prepare_dma(struct ide_channel *ch)
{
	uint8_t status = inb(bm_port(ch, BM_STATUS));

	outb(bm_port(ch, BM_COMMAND), 0);
	outl(bm_port(ch, BM_TABLE), (uint32_t)((uintptr_t)ch->prd - KERNEL_BASE));
	outb(bm_port(ch, BM_STATUS), status | BM_ERROR | BM_INTERRUPT);
}

static void start_dma(struct ide_channel *ch)
{
	uint8_t direction = ch->request->kind == REQUEST_READ ? BM_TO_MEMORY : 0;

	outb(bm_port(ch, BM_COMMAND), direction);
	outb(bm_port(ch, BM_COMMAND), direction | BM_START);
}

static enum ide_progress continue_dma(struct ide_channel *ch)
{
	uint8_t status = inb(bm_port(ch, BM_STATUS));
	bool error;

	outb(bm_port(ch, BM_COMMAND), 0);
	outb(bm_port(ch, BM_STATUS), status | BM_ERROR | BM_INTERRUPT);
	error = read_status(ch);
	if (status & BM_ERROR || (error && ch->error & ERROR_CRC))
		return failed(ch, IDE_CAUSE_DMA);
	if (error)
		return failed(ch, IDE_CAUSE_ERROR);
	ch->left = 0;
	return IDE_DONE;
}

/* ---- All commands ---- */

static enum ide_mode choose_mode(struct ide_channel *ch)
{
	struct ide_drive *d = ch->drive;

	ch->block = 1;
	if (d->dma && !ch->pio_only && build_prds(ch)) {
		ch->protocol = IDE_PROTOCOL_DMA;
		return IDE_DMA;
	}
	ch->protocol = ch->request->kind == REQUEST_READ ? IDE_PROTOCOL_IN
							 : IDE_PROTOCOL_OUT;
	if (!d->id.multiple)
		return IDE_SINGLE;
	ch->block = d->id.multiple;
	return IDE_MULTIPLE;
}

static void build_command(struct ide_channel *ch, struct ide_taskfile *tf)
{
	struct request *r = ch->request;
	enum ide_mode mode = IDE_SINGLE;
	enum ide_operation op = r->kind == REQUEST_READ ? IDE_READ : IDE_WRITE;

	ch->bio = list_first(&r->bios, struct bio, link);
	ch->bio_sector = 0;
	ch->left = ch->span_sectors;
	ch->status = ch->error = 0;
	if (r->kind == REQUEST_FLUSH) {
		op = IDE_FLUSH;
		ch->protocol = IDE_PROTOCOL_NONE;
	} else {
		mode = choose_mode(ch);
	}
	ide_taskfile_build(&ch->drive->id, ch->drive->unit, op, mode, r->sector,
			   ch->span_sectors, tf);
}

static void put_registers(const struct ide_channel *ch, const struct ide_taskfile *tf)
{
	uint16_t base = ch->command;

	if (tf->ext) {
		outb((uint16_t)(base + IDE_COUNT), tf->count_high);
		for (unsigned i = 0; i < 3; i++)
			outb((uint16_t)(base + IDE_LBA0 + i), tf->lba_high[i]);
	}
	outb((uint16_t)(base + IDE_COUNT), tf->count);
	for (unsigned i = 0; i < 3; i++)
		outb((uint16_t)(base + IDE_LBA0 + i), tf->lba[i]);
}

enum ide_progress ide_command_start(struct ide_channel *ch)
{
	struct ide_taskfile tf;

	build_command(ch, &tf);
	outb((uint16_t)(ch->command + IDE_DEVICE), tf.device);
	ide_settle(ch);
	if (!ide_wait(ch, STATUS_BUSY | STATUS_DRQ, 0, IDE_READY_US))
		return failed(ch, IDE_CAUSE_TIMEOUT);
	put_registers(ch, &tf);
	if (ch->protocol == IDE_PROTOCOL_DMA)
		prepare_dma(ch);
	outb((uint16_t)(ch->command + IDE_COMMAND), tf.command);
	if (ch->protocol == IDE_PROTOCOL_DMA)
		start_dma(ch);
	if (ch->protocol != IDE_PROTOCOL_OUT)
		return IDE_MORE;
	ide_settle(ch);
	if (!ide_wait(ch, STATUS_BUSY, 0, IDE_READY_US))
		return failed(ch, IDE_CAUSE_TIMEOUT);
	return continue_out(ch);
}

bool ide_command_due(const struct ide_channel *ch)
{
	if (ch->protocol == IDE_PROTOCOL_DMA)
		return inb(bm_port(ch, BM_STATUS)) & BM_INTERRUPT;
	return !(inb(ch->control) & STATUS_BUSY);
}

enum ide_progress ide_command_continue(struct ide_channel *ch)
{
	switch (ch->protocol) {
	case IDE_PROTOCOL_DMA:
		return continue_dma(ch);
	case IDE_PROTOCOL_IN:
		return continue_in(ch);
	case IDE_PROTOCOL_OUT:
		return continue_out(ch);
	case IDE_PROTOCOL_NONE:
		break;
	}
	return read_status(ch) ? failed(ch, IDE_CAUSE_ERROR) : IDE_DONE;
}

void ide_command_abort(struct ide_channel *ch)
{
	if (ch->protocol == IDE_PROTOCOL_DMA)
		outb(bm_port(ch, BM_COMMAND), 0);
}

/* After an error the registers hold the address where it happened, without LBA in a form
 * that PIO knows as well: what wasn't moved. */
sector_t ide_failed_sector(const struct ide_channel *ch)
{
	sector_t first = ch->request->sector, at;
	uint16_t base = ch->command;

	if (!ch->drive->id.lba)
		return first + ch->span_sectors - MAX(ch->left, 1u);
	at = inb((uint16_t)(base + IDE_LBA0)) | inb((uint16_t)(base + IDE_LBA1)) << 8 |
	     inb((uint16_t)(base + IDE_LBA2)) << 16;
	if (first + ch->span_sectors <= BIT(28)) {
		at |= (sector_t)(inb((uint16_t)(base + IDE_DEVICE)) & 0x0f) << 24;
	} else {
		outb(ch->control, CONTROL_HIGH);
		for (unsigned i = 0; i < 3; i++)
			at |= (sector_t)inb((uint16_t)(base + IDE_LBA0 + i)) << (24 + 8 * i);
		outb(ch->control, 0);
	}
	return at >= first && at < first + ch->span_sectors ? at : first;
}
