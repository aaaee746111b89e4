/*
 * Overcommit: how many pages may be promised to address spaces.
 *
 *   overcommit=0  refuse what could never be there: one request above RAM plus swap
 *   overcommit=1  promise everything
 *   overcommit=2  never promise more than swap plus overcommit.ratio per cent of RAM
 *
 * (Linux's vm.overcommit_memory.) What counts is in vmas with VMA_ACCOUNT: private
 * writable memory, and in memory objects, whoever maps them; except where MAP_NORESERVE asks
 * not to (rule 2 ignores that).
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "mm/frame.h"
#include "mm/swap.h"
#include "mm/vma.h"

enum overcommit_rule { OVERCOMMIT_GUESS, OVERCOMMIT_ALWAYS, OVERCOMMIT_NEVER };

PARAM_U32(rule, "overcommit", OVERCOMMIT_GUESS, OVERCOMMIT_GUESS, OVERCOMMIT_NEVER);
PARAM_U32(ratio, "overcommit.ratio", 50, 0, 1000);

static uint32_t committed;		/* pages; the sum over all mms and objects */

/* Would `more` pages on top of all promises be too many? */
static bool too_many(uint32_t more)
{
	uint64_t limit = swap_slots_total();

	switch (rule) {
	case OVERCOMMIT_ALWAYS:
		return false;
	case OVERCOMMIT_GUESS:
		return more > limit + frames_total();
	default:
		limit += (uint64_t)frames_total() * ratio / 100;
		return (uint64_t)committed + more > limit;
	}
}

/*
 * Promise `count` pages to `mm`, whose mmap_lock is held, or (NULL) to an object, in its own
 * sum and in the sum of all, if the rule in force (overcommit=) allows: OK, or -ENOMEM and
 * nothing is promised. Never sleeps.
 */
int commit_ask(struct mm *mm, uint32_t count)
{
	if (count > 0 && too_many(count))
		return -ENOMEM;
	commit_take(mm, count);
	return OK;
}

/* Promise `count` pages without asking: as many are about to be given back. */
void commit_take(struct mm *mm, uint32_t count)
{
	committed += count;
	if (mm)
		mm->committed += count;
}

/* `mm`, or an object, needs `count` of its promised pages no more. */
void commit_release(struct mm *mm, uint32_t count)
{
	KASSERT2(count <= committed, "commit: released", count, committed);
	committed -= count;
	if (!mm)
		return;
	KASSERT2(count <= mm->committed, "commit: released", count, mm->committed);
	mm->committed -= count;
}

/* Pages promised to all address spaces and objects. */
uint32_t commit_total(void)
{
	return committed;
}

/* Does MAP_NORESERVE keep a vma out of the account? */
bool commit_may_skip(void)
{
	return rule != OVERCOMMIT_NEVER;
}
