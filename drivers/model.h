/*
 * Modelled drives: how long a request takes on a disk that isn't there.
 *
 * A virtual disk answers at once and has no seeks. With disk=model:NAME a request ends, on
 * the kernel's clock, when the modelled drive would have ended it; the data come from the
 * real one. disk=real, the default outside the lab, adds nothing.
 */
#ifndef DRIVERS_MODEL_H
#define DRIVERS_MODEL_H

#include "drivers/block.h"
#include "kernel/types.h"

struct disk_model {
	const char *name;		/* disk=model:NAME */
	/* Nanoseconds from `now`, when the drive takes up the request, to its end; the
	 * drive is idle then. `sectors` is 0 for a flush. Interrupts off. */
	ns_t (*service_ns)(struct block_dev *disk, sector_t sector, uint32_t sectors,
			   bool write, ns_t now);
};

extern const struct disk_model model_fixed;

void model_init(void);			/* reads disk= */
/* As service_ns above, by the model in force; 0 with disk=real. */
ns_t model_service_ns(struct block_dev *disk, sector_t sector, uint32_t sectors,
		      bool write, ns_t now);

#endif
