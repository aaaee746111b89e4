/* What all elevators share: the choice by name, and the two tests that they walk with. */
#include "drivers/elevator.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"

PARAM_STRING(elevator_name, "elevator", "linus");

static const struct elevator_ops *const elevators[] = { &elevator_linus, &elevator_noop };

const struct elevator_ops *elevator_chosen(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(elevators); i++)
		if (strcmp(elevators[i]->name, elevator_name) == 0)
			return elevators[i];
	printk("block: no elevator \"%s\", using %s\n", elevator_name, elevators[0]->name);
	strlcpy(elevator_name, elevators[0]->name, sizeof(elevator_name));
	return elevators[0];
}

/*
 * Could `s` join `r`? Returns MERGE_BACK or MERGE_FRONT if they are of one kind, contiguous in
 * that way, and together at most REQUEST_SECTORS_MAX sectors in REQUEST_BIOS_MAX bios; else
 * MERGE_NONE. Queue's lock held; never sleeps.
 */
enum merge elevator_joins(const struct request *r, const struct elevator_span *s)
{
	if (r->kind != s->kind || r->bio_count >= REQUEST_BIOS_MAX ||
	    r->sectors + s->sectors > REQUEST_SECTORS_MAX)
		return MERGE_NONE;
	if (r->sector + r->sectors == s->sector)
		return MERGE_BACK;
	if (s->sector + s->sectors == r->sector)
		return MERGE_FRONT;
	return MERGE_NONE;
}

/*
 * Returns true if `s` must not overtake `r` (block.3): `r` is a flush, or they overlap and one of
 * them writes. Queue's lock held; never sleeps.
 */
bool elevator_stops(const struct request *r, const struct elevator_span *s)
{
	if (r->kind == REQUEST_FLUSH)
		return true;
	if (r->kind == REQUEST_READ && s->kind == REQUEST_READ)
		return false;
	return s->sector < r->sector + r->sectors && r->sector < s->sector + s->sectors;
}
