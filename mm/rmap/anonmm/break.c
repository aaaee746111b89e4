/* Breaking the invariants of this reverse map (kernel/breakage.h). */
#include "kernel/breakage.h"
#include "mm/rmap/anonmm/anonmm.h"
#include "mm/rmap/break_index.h"

static struct anonmm *first_anonmm(void)
{
	return list_first(&mm_all, struct mm, all_link)->rmap.anonmm;
}

/* One that nobody can come to: on no mm's ring. */
static bool break_lost(void)
{
	return anonmm_create(NULL);
}

static bool break_count(void)
{
	first_anonmm()->count++;
	return true;
}

/* The first one that fork made takes itself for the head. */
static bool break_head(void)
{
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link) {
		struct anonmm *a = mm->rmap.anonmm;

		if (a->head != a) {
			a->head = a;
			return true;
		}
	}
	return false;
}

static bool break_dead(void)
{
	struct anonmm *a = anonmm_create(NULL);

	if (!a)
		return false;
	anonmm_join(a, first_anonmm()->head);
	a->count = 0;
	return true;
}

static bool break_mm(void)
{
	first_anonmm()->mm = list_entry(mm_all.prev, struct mm, all_link);
	return true;
}

const struct breakage rmap_breakages[] = {
	{ "rmap.1", "changed the index of an anonymous page",	break_index },
	{ "vma.5",  "the same",					break_index },
	{ "rmap.2", "made an anonmm that nobody knows",		break_lost },
	{ "rmap.5", "raised the count of an anonmm",		break_count },
	{ "rmap.6", "made a member of a family its own head",	break_head },
	{ "rmap.7", "left a dead anonmm without pages on a ring", break_dead },
	{ "rmap.8", "made an anonmm name another mm",		break_mm },
	{ 0 }
};
