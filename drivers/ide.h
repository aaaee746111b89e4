/*
 * IDE: two channels with two drives each, PIO or bus-master DMA, one command at a time on
 * a channel. What the files share; the rest of the kernel calls ide_init() only.
 *
 *   ide.c          the channel's states: next request, retry, reset, time limits
 *   ide_transfer.c one command: registers, PIO blocks, PRD table, progress at interrupts
 *   ide_lab.c      the same with the lab's recipe
 *   ide_probe.c    finding channels and drives
 *   ide_command.c  ATA as data
 *
 *            request       issued               interrupt: done
 *   IDLE ----------> READY ------> RUNNING ------------------+-----> IDLE, or READY for
 *    ^                 ^             | error,                |       the rest of it
 *    |                 |             | time limit     modelled time
 *    |                 |             v                       |
 *    |                 +-------- RESETTING                   v
 *    +---------------------------------------------------- DELAY
 *
 * ide.1  state != IDLE <=> the channel has a request, active in its drive's queue
 * ide.2  the timer is set in RUNNING (outside the lab), RESETTING (likewise) and DELAY only
 *
 * All of a channel is used with interrupts off: there is one CPU, and what is not IDLE
 * belongs to whoever is called for the channel next: interrupt, timer, or start().
 */
#ifndef DRIVERS_IDE_H
#define DRIVERS_IDE_H

#include "drivers/ide_command.h"
#include "drivers/queue.h"
#include "kernel/time.h"
#include "kernel/types.h"

enum { IDE_CHANNELS = 2, IDE_UNITS = 2, IDE_SECTOR_WORDS = SECTOR_BYTES / 2 };

/* Registers, from the command block's base port. */
enum {
	IDE_DATA = 0, IDE_ERROR = 1, IDE_COUNT = 2, IDE_LBA0 = 3, IDE_LBA1 = 4, IDE_LBA2 = 5,
	IDE_DEVICE = 6, IDE_STATUS = 7, IDE_COMMAND = 7,
};
/* Bits of IDE_STATUS, IDE_ERROR, and of the control port. */
enum {
	STATUS_ERROR = 0x01, STATUS_DRQ = 0x08, STATUS_FAULT = 0x20, STATUS_READY = 0x40,
	STATUS_BUSY = 0x80, ERROR_CRC = 0x80,
	CONTROL_NO_INTERRUPT = 0x02, CONTROL_RESET = 0x04, CONTROL_HIGH = 0x80,
};
/* Bus master IDE (Intel, Programming Interface for Bus Master IDE Controller 1.0). */
enum {
	BM_COMMAND = 0, BM_STATUS = 2, BM_TABLE = 4,
	BM_START = 0x01, BM_TO_MEMORY = 0x08,
	BM_ACTIVE = 0x01, BM_ERROR = 0x02, BM_INTERRUPT = 0x04, BM_DRIVE0_DMA = 0x20,
};

/* An entry of the PRD table; two for a bio, which may lie across a 64 KiB boundary. */
struct ide_prd {
	paddr_t	 address;
	uint16_t bytes;			/* 0: 64 KiB */
	uint16_t flags;			/* bit 15: the last one */
};
enum { IDE_PRD_MAX = 2 * REQUEST_BIOS_MAX, IDE_PRD_LAST = 0x8000 };

enum ide_state { IDE_IDLE, IDE_READY, IDE_RUNNING, IDE_RESETTING, IDE_DELAY };
/* How a command moves its data. */
enum ide_protocol { IDE_PROTOCOL_NONE, IDE_PROTOCOL_IN, IDE_PROTOCOL_OUT, IDE_PROTOCOL_DMA };
enum ide_progress { IDE_MORE, IDE_DONE, IDE_FAILED };
enum ide_cause { IDE_CAUSE_ERROR, IDE_CAUSE_DMA, IDE_CAUSE_TIMEOUT };

struct ide_drive {
	struct ide_channel *channel;
	unsigned unit;			/* 0 master, 1 slave */
	char	 name[4];		/* "hda" */
	struct ide_identity id;
	struct block_queue *queue;	/* NULL: no drive */
	bool	 dma;			/* use it */
	bool	 dead;			/* given up: every request fails at once */
	uint8_t	 dma_failures;		/* since boot */
	uint8_t	 timeouts;		/* in a row */
	unsigned complaints;		/* errors that the log has told */
};

struct ide_channel {
	uint16_t command, control;	/* ports */
	uint16_t bus_master;		/* 0: no DMA */
	unsigned irq, number;
	struct ide_drive drives[IDE_UNITS];
	unsigned turn;			/* whose request comes next */
	enum ide_state state;
	bool	 busy;			/* some caller is in ide_run() or completes */
	bool	 reset_wanted;		/* before the next command */

	/* The command: the first span_bios bios of the request. */
	struct ide_drive *drive;
	struct request	 *request;
	unsigned span_bios;
	uint32_t span_sectors;
	bool	 single;		/* after errors: a bio a command */
	bool	 pio_only;		/* last try of a span that failed by DMA */
	unsigned tries;			/* failed ones of this span */
	ns_t	 started, deadline;
	ns_t	 service;		/* by the modelled drive, from `started` on */
	struct timer timer;

	/* Its progress, for PIO */
	enum ide_protocol protocol;
	struct bio *bio;		/* where the next sector goes */
	uint32_t bio_sector;		/* ... in it */
	uint32_t left;			/* sectors not yet moved */
	uint8_t	 block;			/* sectors an interrupt */
	uint8_t	 status, error;		/* as last read */
	enum ide_cause cause;		/* with IDE_FAILED */

	bool	 suspect;		/* was ready at the last look, without an interrupt */
	volatile bool interrupted;	/* lab: the drive's interrupt came */
	struct ide_prd *prd;		/* [IDE_PRD_MAX] */
};

extern struct ide_channel ide_channels[IDE_CHANNELS];
extern const struct disk_ops ide_ops;

void ide_init(void);

/* ide_transfer.c. Interrupts off in all of them. */
/* Give the drive the command for the channel's span, and the first block of a PIO write.
 * IDE_MORE: it works. IDE_FAILED: ch->cause says why. */
enum ide_progress ide_command_start(struct ide_channel *ch);
/* The drive is ready, with an interrupt or without: go on. Clears the interrupt. */
enum ide_progress ide_command_continue(struct ide_channel *ch);
/* True if the running command can go on: the interrupt that came, if any, was its. */
bool ide_command_due(const struct ide_channel *ch);
/* Stop the DMA engine after an error. */
void ide_command_abort(struct ide_channel *ch);
/* Where the drive says the error was, if that lies in the span; else the span's start. */
sector_t ide_failed_sector(const struct ide_channel *ch);

/* ide_probe.c. Busy waiting, bounded. */
/* Wait up to `us` until (alternate status & mask) == value. False: it didn't happen. */
bool ide_wait(const struct ide_channel *ch, uint8_t mask, uint8_t value, uint32_t us);
/* Let the status become valid after a write to the command or device register: 400 ns. */
void ide_settle(const struct ide_channel *ch);
/* After power-on or reset, with the channel's interrupts off: block size, and geometry
 * where there is no LBA. */
void ide_drive_setup(struct ide_drive *d);

/* ide.c */
void ide_interrupt(unsigned irq, void *arg);
void ide_timer(struct timer *t);
/* The command is done: ask the modelled drive how long it took. */
void ide_model(struct ide_channel *ch);
/* Drive reset, step one and two: at least 2 ms lie between them, and the drive is ready. */
void ide_reset_begin(struct ide_channel *ch);
void ide_reset_end(struct ide_channel *ch);

/* ide_lab.c: the whole command, the whole reset, in no time of the lab clock. */
enum ide_progress ide_lab_command(struct ide_channel *ch);
bool ide_lab_reset(struct ide_channel *ch);	/* false: the drives stay busy */

#endif
