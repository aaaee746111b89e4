/*
 * Invariants broken on purpose, one at a time, so that tests can prove that the audit or an
 * assertion notices: machine(MACHINE_BREAK, n), only with test.faults=1. The machine isn't to
 * be used for anything after that.
 */
#ifndef KERNEL_BREAKAGE_H
#define KERNEL_BREAKAGE_H

#include "kernel/types.h"

struct breakage {
	const char *invariant, *what;
	bool (*apply)(void);		/* false: there is nothing to break now */
};

/* One array an area, which ends with an empty row. mm/audit_break.c numbers them through. */
extern const struct breakage break_frames[];	/* mm/break_frames.c */
extern const struct breakage break_spaces[];	/* mm/break_spaces.c: vmas, tree, mm, PTEs */
extern const struct breakage break_objects[];	/* mm/break_objects.c: objects, radix, slab */
extern const struct breakage break_swap[];	/* mm/swap/break.c */
extern const struct breakage rmap_breakages[];	/* mm/rmap/RMAP/break.c */
extern const struct breakage break_kernel[];	/* kernel/break.c */
extern const struct breakage break_drivers[];	/* drivers/break.c */

#endif
