/*
 * Losing memory on purpose, so that tests can prove that the leak detector finds it
 * (machine(MACHINE_LOSE, LOSE_*), only with test.faults=1). The audit complains about a lost
 * slot, and about nothing else: all that is lost looks as if somebody still needed it.
 */
#include "kernel/abi/errno.h"
#include "kernel/abi/sysinfo.h"
#include "kernel/panic.h"
#include "mm/audit.h"
#include "mm/frame.h"
#include "mm/object.h"
#include "mm/pgtable.h"
#include "mm/slab.h"
#include "mm/swap.h"

enum { LOST_BYTES = 64 };

/* A memory object with one page, of which the only reference is forgotten. */
static bool lose_object(void)
{
	struct object *o = object_create(1);
	struct page *p;
	int error;

	p = o ? object_get_page(o, 0, &error) : NULL;
	if (p)
		page_drop(p);
	return p;
}

static bool lose_page(uint32_t flag)
{
	struct page *p = page_alloc(GFP_KERNEL, 0);

	if (p)
		page_set(p, flag);
	return p;
}

int memory_lose(unsigned what)
{
	swap_entry e;
	bool done;

	switch (what) {
	case LOSE_PAGE:
		done = lose_page(0);
		break;
	case LOSE_SLAB:
		done = kmalloc(LOST_BYTES, GFP_KERNEL) != NULL;
		break;
	case LOSE_SLOT:
		done = swap_slot_alloc(&e);
		break;
	case LOSE_STACK:
		done = kstack_alloc() != NULL;
		break;
	case LOSE_OBJECT:
		done = lose_object();
		break;
	case LOSE_TABLE:
		done = lose_page(PG_TABLE);
		break;
	default:
		return -EINVAL;
	}
	return done ? OK : -ENOMEM;
}
