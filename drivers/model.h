/*
 * Modelled drives: how long a request takes on a disk that isn't there.
 *
 * A virtual disk answers at once and has no seeks. With disk=model:NAME a request ends, on
 * the kernel's clock, when the modelled drive would have ended it; the data come from the
 * real one. disk=real, the default outside the lab, adds nothing.
 *
 *   model.c           which drive is in force, disk.NAME= parameters, report
 *   model_fixed.c     a constant and so much a page
 *   model_ata.c       the named drives with an arm
 *   model_drive.c     their requests, read-ahead and write buffer   } model_drive.h
 *   model_geometry.c  their arm and platters                        }
 *   model_powers.c    a table of logarithms, made by tools/mkpowers
 *
 * docs/formats.md, "The modelled drive", says what they do.
 */
#ifndef DRIVERS_MODEL_H
#define DRIVERS_MODEL_H

#include "drivers/block.h"
#include "kernel/types.h"

/* What a drive with an arm is told by: disk.NAME=, or else the named drive's own. */
enum drive_fact {
	FACT_RPM, FACT_SEEK_MIN_US, FACT_SEEK_AVG_US, FACT_SEEK_MAX_US,
	FACT_OUTER_KBS, FACT_INNER_KBS, FACT_HEADS, FACT_CAPACITY_MB, FACT_OFFSET_MB,
	FACT_BUS_KBS, FACT_COMMAND_US, FACT_JITTER_US, FACT_READ_BUFFER_KB, FACT_WRITE_BUFFER_KB,
	DRIVE_FACTS
};

/* Where the time of one kind of request went, in the report as model_FIELD. */
struct model_times {
	uint64_t requests, sectors;
	ns_t	 seek_ns, rotation_ns, transfer_ns;	/* of the arm */
	ns_t	 buffer_ns;		/* of requests that ended in the drive's buffers, whole */
	uint64_t buffer_hits;		/* ... how many */
};

struct model_stats {
	struct model_times read, write;
	uint64_t flushes;
};

/* One transfer, or a flush, which has no sectors. */
struct model_request {
	sector_t sector;		/* on the disk */
	uint32_t sectors;
	bool	 write;
};

struct disk_model {
	const char *name;		/* disk=model:NAME */
	const uint32_t *facts;		/* [DRIVE_FACTS]; NULL: none of them means anything */
	/* A drive that serves `sectors` sectors, with these facts. `draw` is its random
	 * number. NULL without memory. Boot only. */
	void *(*create)(const char *disk, sector_t sectors, const uint32_t *facts,
			uint32_t draw);
	/* Nanoseconds from `now`, when the drive takes up the request, to its end; it has
	 * answered all earlier ones then. `drive` is what create() made. Interrupts off. */
	ns_t (*service_ns)(void *drive, const struct model_request *r, ns_t now);
	void (*stats)(const void *drive, struct model_stats *to);	/* NULL: keeps none */
	/* The invariant that is broken, or NULL. Not there where create() isn't. */
	const char *(*check)(const void *drive);
};

extern const struct disk_model model_fixed, model_ata2001, model_ata1999;

/* Read disk= and disk.NAME=; nonsense is refused in words. Before the first disk. */
void model_init(void);
/* The disk, which has its queue, gets its drive. Boot only. */
void model_attach(struct block_dev *disk);
/* As service_ns above, by the model in force; 0 with disk=real. */
ns_t model_service_ns(struct block_dev *disk, const struct model_request *r, ns_t now);
/* "@disk NAME model_FIELD value" lines. */
void model_report(const struct block_dev *disk);
/* Check the disk's drive; prints each violation, returns how many. Interrupts off. */
unsigned model_check(const struct block_dev *disk);
/* Why a drive can't be like that; NULL if it can (model_geometry.c). */
const char *drive_facts_fault(const uint32_t *facts);

#endif
