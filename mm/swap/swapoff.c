/*
 * swapoff: bring everything back from an area and let it go. First the mms, one after
 * the other (mm_unuse() in mm/swapin.c), then the memory objects, which perhaps no mm maps
 * (objects_unuse() in mm/object_swap.c), then pages that only the cache still holds.
 *
 * Locks: swapon_lock all the time. No new slots are given from an area that is leaving;
 * pages that don't fit into RAM go to other areas by the usual way.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "mm/frame.h"
#include "mm/object.h"
#include "mm/swap/area.h"
#include "mm/vma.h"

enum { DYING_WAITS = 100, DYING_WAIT_MS = 10 };
enum { UNUSE_ROUNDS = 4096 };		/* more than there are mms */

/* The area on partition `name`, or NULL. swapon_lock held. */
static struct swap_area *area_named(const char *name)
{
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++)
		if (swap_areas[i].state != AREA_OFF && !strcmp(swap_areas[i].dev->name, name))
			return &swap_areas[i];
	return NULL;
}

/* What the area's pages could go to. */
static bool would_fit(const struct swap_area *a)
{
	uint32_t cached = swap_cached_pages();
	uint32_t needs = a->used > cached ? a->used - cached : 0;

	return needs < frames_free() + swap_slots_free();
}

struct holds_entry {
	unsigned area;
	bool	 found;
};

static void look_for_area(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct holds_entry *h = arg;

	(void)mm;
	(void)addr;
	if (pte_is_swap(*pte) && swap_entry_area(pte_swap_entry(*pte)) == h->area)
		h->found = true;
}

/* The first mm that names a slot of `area` and isn't on its way out; NULL: none. Doesn't
 * sleep. */
static struct mm *mm_that_uses(unsigned area)
{
	struct holds_entry h = { .area = area };
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link) {
		if (mm->swap_ptes == 0 || mm->dying)
			continue;
		pte_for_each(mm, look_for_area, &h);
		if (h.found)
			return mm;
	}
	return NULL;
}

static bool somebody_is_dying(void)
{
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link)
		if (mm->dying && mm->swap_ptes > 0)
			return true;
	return false;
}

/* A task that is being torn down gives its slots back by itself, soon. */
static void wait_for_the_dying(void)
{
	for (unsigned i = 0; i < DYING_WAITS && somebody_is_dying(); i++) {
		uint32_t irq = irq_save();

		(void)thread_sleep(SLEEP_KILLABLE, clock_ns() + DYING_WAIT_MS * NS_PER_MS,
				   "a task to end");
		irq_restore(irq);
	}
}

/*
 * Bring back what the mms have in `area`. Each round empties one mm, so there are as
 * many rounds as mms, and new entries for an area that leaves don't arise (slot_is_lost()
 * in mm/reclaim/shrink.c), but by forks. From an area that stays in service (swap_undo())
 * pages may be fetched in vain; -EBUSY then.
 */
static int unuse_mms(unsigned area)
{
	unsigned rounds = 0;
	struct mm *mm;
	int error = 0;

	while (!error && (mm = mm_that_uses(area)) != NULL) {
		if (current->killed)
			return -EINTR;
		if (swap_areas[area].stays)
			return -ENOMEM;
		if (rounds++ == UNUSE_ROUNDS)
			return -EBUSY;
		error = mm_unuse(mm, area);
		cond_resched();
	}
	wait_for_the_dying();
	return error;
}

/* Bring back all that PTEs and objects have in `area`. */
static int unuse(unsigned area)
{
	int error = unuse_mms(area);

	return error ? error : objects_unuse(area);
}

/* Let the page of `slot` leave the cache. -EBUSY if something else holds the slot. */
static int empty_slot(struct swap_area *a, uint32_t slot)
{
	swap_entry e = swap_entry_make(swap_area_number(a), slot);
	struct page *p = swap_cache_find(e);

	if (!p)
		return -EBUSY;
	page_lock(p);
	page_wait_writeback(p);
	if (page_is(p, PG_SWAPCACHE) && p->private == e.v && swap_count(e) == 1)
		swap_cache_delete(p);
	page_unlock(p);
	page_drop(p);
	return swap_count(e) == 0 || slot_count(a, slot) == SLOT_BAD ? 0 : -EBUSY;
}

static int empty_cache(struct swap_area *a)
{
	int error = 0;

	for (uint32_t slot = 1; !error && a->used > 0 && slot < a->size; slot++)
		if (slot_count(a, slot) != 0 && slot_count(a, slot) != SLOT_BAD)
			error = empty_slot(a, slot);
	return error;
}

/*
 * Undo all swapping, as far as memory allows without pushing anything else out: every mm
 * and object gets its pages back, and slots are freed. For MACHINE_DROP_CACHES: what is used after
 * that is comparable with a machine that never swapped. Sleeps.
 */
void swap_undo(void)
{
	mutex_lock(&swapon_lock);
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++) {
		struct swap_area *a = &swap_areas[i];

		if (a->state != AREA_ON || a->used >= frames_free() / 2)
			continue;
		if (unuse(i) == 0)
			(void)empty_cache(a);
	}
	mutex_unlock(&swapon_lock);
}

static void set_state(struct swap_area *a, enum area_state state)
{
	spin_lock(&swap_lock);
	a->state = state;
	spin_unlock(&swap_lock);
}

bool swap_off_call_off(void)
{
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++) {
		struct swap_area *a = &swap_areas[i];

		if (a->state != AREA_LEAVING)
			continue;
		a->stays = true;
		set_state(a, AREA_ON);
		return true;
	}
	return false;
}

bool swap_off_called_off(unsigned area)
{
	return swap_areas[area].stays;
}

static int leave(struct swap_area *a)
{
	int error;

	if (!would_fit(a))
		return -ENOMEM;
	set_state(a, AREA_LEAVING);
	error = unuse(swap_area_number(a));
	if (!error)
		error = empty_cache(a);
	if (!error && a->stays)
		error = -ENOMEM;
	if (error) {
		a->stays = false;
		set_state(a, AREA_ON);
		return error;
	}
	KASSERT2(a->used == 0, "swap.2", a->used, a->free);
	set_state(a, AREA_OFF);
	return 0;
}

/*
 * Take partition `name` out of service: see swap.h. -EINVAL if it isn't in it, -ENOMEM
 * if its pages fit nowhere, -EINTR if the caller was killed, -EIO if a page can't be
 * read, -EBUSY if a task takes long to die; the area then stays in service. Sleeps.
 */
int swap_off(const char *name)
{
	struct swap_area *a;
	int error = -EINVAL;

	mutex_lock(&swapon_lock);
	a = area_named(name);
	if (a)
		error = leave(a);
	if (a && !error) {
		a->dev->claimed = false;
		page_free(a->header_page, 0);
		a->header_page = NULL;
		slots_destroy(a);
	}
	mutex_unlock(&swapon_lock);
	printk("swap: swapoff %s: %s\n", name, error ? "failed, it stays as it was" : "done");
	return error;
}
