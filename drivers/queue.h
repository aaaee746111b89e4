/*
 * Request queues: one for each disk, between drivers/block.c and the disk's driver.
 *
 *             admitted               driver asks            driver done
 *   bio ---> WAITING? ---> in a request, queued ---> with the driver ---> done()
 *       no request free,    merged with neighbours        one request
 *       in order of arrival                               at a time
 *
 * queue.1  free + queued + active requests of a queue are its pool
 * queue.2  bios wait only while something is queued or active
 * queue.3  a request's sectors are the sum of its bios', contiguous, at most
 *          REQUEST_SECTORS_MAX in at most REQUEST_BIOS_MAX bios
 * queue.4  `pending` counts bios that were submitted and whose done() was not called
 *
 * Letters at fields: q queue's lock (RANK_BLOCK, interrupts off), d the driver while the
 * request is active, c constant after boot.
 */
#ifndef DRIVERS_QUEUE_H
#define DRIVERS_QUEUE_H

#include "drivers/block.h"
#include "kernel/lock.h"
#include "kernel/types.h"

enum request_kind { REQUEST_READ, REQUEST_WRITE, REQUEST_FLUSH };

enum {
	REQUEST_SECTORS_MAX = 256,	/* 128 KiB: what LBA28 can say */
	REQUEST_BIOS_MAX = 32,
	QUEUE_POOL = 128,		/* requests a disk, docs/history.md 8.1 */
	QUEUE_POOL_SMALL = 64,		/* ... below 32 MiB of RAM */
};

struct request {
	struct list link;		/* q  queue->requests or ->free; else alone */
	struct list bios;		/* q  then d; bio.link, by sector */
	sector_t    sector;		/* q  then d; on the disk, of the first bio left */
	uint32_t    sectors;		/* q  then d; of the bios left; 0 for a flush */
	uint32_t    bio_count;		/* q  then d */
	enum request_kind kind;		/* q */
	int32_t	    sequence;		/* q  the elevator's */
};

struct queue_stats {
	uint64_t requests[2], sectors[2];	/* by REQUEST_READ, REQUEST_WRITE */
	uint64_t merges, flushes;
	uint64_t waits;			/* bios that found no request free */
	uint64_t errors, retries, resets, timeouts, lost_interrupts;
	ns_t	 busy_ns;
};

struct block_queue;

struct disk_ops {
	const char *name;		/* "ide" */
	/* There is something to do: take it with queue_next(), now or later. Called
	 * with interrupts off and no lock of rank RANK_IRQ or above held. */
	void (*start)(struct block_queue *q);
};

struct block_queue {
	struct spinlock	  lock;		/* RANK_BLOCK */
	struct block_dev *disk;		/* c */
	const struct disk_ops *ops;	/* c */
	void		 *driver;	/* c  the driver's own */
	void		 *model;	/* c  the modelled drive's own; NULL: none */
	const struct elevator_ops *elevator;	/* c */
	struct list	  requests;	/* q  queued, the next one first */
	struct list	  waiting;	/* q  bios without a request */
	struct list	  free;		/* q */
	struct request	 *pool;		/* c  [pool_count] */
	unsigned	  pool_count;	/* c */
	unsigned	  queued, free_count;	/* q */
	struct request	 *active;	/* q */
	ns_t		  active_since;	/* q */
	unsigned	  pending;	/* q  queue.4 */
	bool		  plugged;	/* q  has work and waits for block_unplug() */
	bool		  dma;		/* d  for reports */
	struct queue_stats stats;	/* q; errors and such d */
};

/* A queue for `disk`. NULL without memory. Boot only; sleeps. */
struct block_queue *queue_create(struct block_dev *disk, const struct disk_ops *ops,
				 void *driver);
/* Take in a bio whose bounds were checked; one without sectors is a flush. Doesn't start
 * the driver. Any context, never sleeps, never allocates. */
void queue_add(struct block_queue *q, struct bio *b);
/* True if the driver should be told to start: there is work and none is active. `full`:
 * bios wait for a request, so holding back would merge nothing more. */
bool queue_idle_with_work(struct block_queue *q, bool *full);
/* For the driver: the next request, which is active from now on; NULL if there is none or
 * one is active already. Interrupts off. */
struct request *queue_next(struct block_queue *q);
/* For the driver: the first `bios` bios of the active request are done. True if some are
 * left; else the request is free again. Calls their done(), without locks; interrupts
 * are off. */
bool queue_complete(struct block_queue *q, unsigned bios, int error);
unsigned queue_check(struct block_queue *q);

/* Block layer's part in a completion: counts and wakes (drivers/block.c). */
void block_request_freed(struct block_queue *q);

/* Enter a disk of `sectors` sectors, with a queue of its own. NULL without memory.
 * Boot only; sleeps. */
struct block_dev *block_add_disk(const char *name, sector_t sectors,
				 const struct disk_ops *ops, void *driver);

#endif
