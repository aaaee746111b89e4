/*
 * Partition tables: MBR, with the chain of an extended partition. Only reads, and through
 * a function that the caller gives, so that it runs on the host too.
 *
 * part.1  usable entries lie inside the disk, overlap neither one another nor a table
 */
#ifndef DRIVERS_PARTITION_H
#define DRIVERS_PARTITION_H

#include "kernel/types.h"

enum {
	PARTITION_PRIMARY = 4,		/* numbers 1 to 4; logical ones from 5 on */
	PARTITION_LOGICAL_MAX = 59,	/* up to number 63 */
	PARTITION_MAX = PARTITION_PRIMARY + PARTITION_LOGICAL_MAX,
	PARTITION_TYPE_SWAP = 0x82,
};

struct partition {
	unsigned    number;
	uint8_t	    type;		/* MBR type, not 0 */
	bool	    extended;		/* holds logical partitions, no data */
	sector_t    first, sectors;	/* on the disk */
	const char *fault;		/* why it is refused; NULL: usable */
};

struct partition_table {
	struct partition entries[PARTITION_MAX];
	unsigned	 count;
	const char	*refused;	/* why the table as a whole is; NULL: it is not */
	/* Where the tables lie: 0, and each of the chain. */
	sector_t	 tables[1 + PARTITION_LOGICAL_MAX];
	unsigned	 table_count;
};

/* Read one sector into buffer[SECTOR_BYTES]. OK or a negative errno. */
typedef int (*partition_read)(void *arg, sector_t sector, void *buffer);

/*
 * Read the table of a disk of `sectors` sectors into `t`. A disk without the signature
 * 55 AA has no partitions and is no error. OK, or what read() gave for sector 0; an
 * error further down the chain makes its entries faulty. Sleeps if read() does.
 */
int partition_scan(partition_read read, void *arg, sector_t sectors,
		   struct partition_table *t);

#endif
