/*
 * Block devices: disks and their partitions; requests, merging, elevators.
 *
 * block.1  every sector of a bio lies inside its device (checked in block_submit)
 * block.2  a bio is on one queue or with the driver, and `done` is called exactly once
 * block.3  of two transfers that overlap, one of them a write, the earlier submitted one
 *          is done first; all others go in the elevator's order
 */
#ifndef DRIVERS_BLOCK_H
#define DRIVERS_BLOCK_H

#include "kernel/list.h"
#include "kernel/types.h"

struct block_queue;

#define BLOCK_VERSION 1			/* docs/CHANGES.md */

enum { BLOCK_NAME_BYTES = 16 };

struct block_dev {
	char		 name[BLOCK_NAME_BYTES];	/* "hda", "hda1", "hdb5" */
	struct block_dev *disk;		/* whole disk; itself if it is one */
	sector_t	 first;		/* on the disk */
	sector_t	 sectors;
	uint8_t		 type;		/* MBR type; 0 for a whole disk */
	bool		 broken;	/* table entry refused: overlaps, too long */
	bool		 claimed;	/* by swapon; raw writes are refused */
	struct block_queue *queue;	/* the disk's */
	struct list	 link;		/* all devices */
};

/* One contiguous transfer of at most a page. Owned by whoever submits it. */
struct bio {
	struct block_dev *dev;
	sector_t	  sector;	/* in `dev` */
	uint32_t	  sectors;	/* 1 to SECTORS_PER_PAGE */
	void		 *buffer;	/* kernel address, in the linear map */
	bool		  write;
	int		  error;	/* OK or -EIO, valid in done() and after */
	void		(*done)(struct bio *b);	/* interrupt context; may free the bio */
	void		 *private;	/* the submitter's */
	struct list	  link;		/* in a request */
};

/* Queue it. Never sleeps, never allocates, never fails: a bio out of bounds, or for a
 * read-only device, is done at once with -EIO and a line in the log. */
void block_submit(struct bio *b);
/* Between the two, requests are collected so that neighbours merge. They nest. */
void block_plug(void);
void block_unplug(void);

/* Read or write whole sectors and wait. -EIO. Sleeps. `buffer` as in a bio, any length. */
int  block_transfer(struct block_dev *dev, sector_t sector, void *buffer,
		    uint32_t sectors, bool write);
int  block_flush(struct block_dev *dev);	/* the drive's write cache. -EIO. Sleeps */

struct block_dev *block_find(const char *name);
/* Call fn for every device, disks first, until it returns false. */
void block_for_each(bool (*fn)(struct block_dev *dev, void *arg), void *arg);
/* Bios waiting or under way on the queue of `dev`; reclaim's congestion test. */
unsigned block_pending(const struct block_dev *dev);
/* Sleep until fewer bios are pending or `ms` have passed. */
void block_wait_congestion(unsigned ms);

void block_init(void);		/* find disks, read their partition tables, log them */
void block_report(void);	/* "@disk NAME field value" lines */
struct abi_disk_row;
unsigned block_rows(struct abi_disk_row *rows, unsigned max);
unsigned block_check(void);

#endif
