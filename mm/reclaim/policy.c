/*
 * Which reclaim policy is in force. A build has those that its reverse map can serve
 * (reclaim_policies[]); reclaim=NAME chooses one at boot, and any other name is refused
 * before anything depends on it.
 */
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "mm/oom.h"
#include "mm/reclaim/policies.h"
#include "mm/slab.h"
#include "mm/swap.h"

PARAM_STRING(reclaim_name, "reclaim", "");	/* "": the first of the list */

const struct reclaim_policy *reclaim;

static const struct reclaim_policy *find_policy(const char *name)
{
	for (unsigned i = 0; reclaim_policies[i]; i++)
		if (!strcmp(reclaim_policies[i]->name, name))
			return reclaim_policies[i];
	return NULL;
}

/* There is no policy `name`, or not in this build. */
static NORETURN void refuse(const char *name)
{
	const char *why = "there is no such policy";
	char names[128] = "";
	size_t at = 0;

	for (unsigned i = 0; reclaim_elsewhere[i]; i++)
		if (!strcmp(reclaim_elsewhere[i], name))
			why = reclaim_why_not;
	for (unsigned i = 0; reclaim_policies[i] && at < sizeof(names); i++)
		at += (size_t)ksnprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
					reclaim_policies[i]->name);
	panic("reclaim=%s: not with this build: %s; it has: %s", name, why, names);
}

/*
 * Choose the policy by name, with its rules of swap and of OOM, and set the watermarks.
 * Called once at boot when the frames are known. A name that the build hasn't ends the boot
 * in words.
 */
void reclaim_init(void)
{
	const struct reclaim_policy *policy;

	if (!*reclaim_name)
		strlcpy(reclaim_name, reclaim_policies[0]->name, sizeof(reclaim_name));
	policy = find_policy(reclaim_name);
	if (!policy)
		refuse(reclaim_name);
	policy->set_watermarks();
	lru_rules = policy->lru;
	swap_rules_init(&policy->swap);
	oom_init(policy->oom);
	reclaim = policy;
	for (unsigned i = 0; i < ZONE_COUNT; i++)
		if (zones[i].present)
			printk("reclaim=%s: zone %s: %u frames, watermarks %u %u %u\n",
			       policy->name, zones[i].name, zones[i].present, zones[i].min,
			       zones[i].low, zones[i].high);
}

/* ---- What MACHINE_DROP_CACHES asks for ---- */

/* Page and slot of the swap cache hold the same: is one of them to spare? The slot, if nothing
 * but the cache holds it; or else the page, if it is clean and nothing but the cache and we
 * hold it. `p` is locked. */
static bool one_is_spare(const struct page *p)
{
	if (!page_is(p, PG_SWAPCACHE) || page_is(p, PG_WRITEBACK))
		return false;
	return swap_count((swap_entry){ p->private }) == 1 ||
	       (!page_is(p, PG_DIRTY) && p->mapcount == 0 && p->count == 2);
}

/* Take `p` out of the swap cache if that loses nothing. Is its frame free now? */
static bool drop_page(struct page *p)
{
	bool last;

	if (!page_is(p, PG_SWAPCACHE) || !page_trylock(p))
		return false;
	page_hold(p);
	if (one_is_spare(p))
		swap_cache_delete(p);
	last = p->count == 1;
	page_unlock(p);
	page_drop(p);
	return last;
}

/*
 * Free all that is only a cache: pages of the swap cache whose contents are on disk, slots
 * whose contents are in memory, and empty slabs; and undo swapping, so that what is in use
 * afterwards can be compared with what was before. Returns frames freed. No locks held. Sleeps.
 */
unsigned reclaim_drop_caches(void)
{
	unsigned freed = 0;

	swap_undo();
	for (pfn_t pfn = 0; pfn < page_count; pfn++)
		freed += drop_page(pfn_page(pfn));
	return freed + slab_shrink();
}
