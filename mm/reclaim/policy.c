/*
 * Which reclaim policy is in force. The list below is all that a build has; reclaim=NAME
 * chooses one at boot, and a name that isn't here, or a policy that this build's
 * reverse map can't serve, is refused before anything depends on it.
 */
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "mm/oom.h"
#include "mm/reclaim/policies.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap.h"

PARAM_STRING(reclaim_name, "reclaim", "");	/* "": the first that the build can do */

static const struct reclaim_policy *const policies[] = {
	&reclaim_default, &reclaim_linux26, &reclaim_linux2414, &reclaim_linux2414_pre6,
	&reclaim_linux2414_pre5, &reclaim_linux2413, &reclaim_linux249, &reclaim_aa, &reclaim_skraw1,
	&reclaim_skraw2, &reclaim_linux22,
};

const struct reclaim_policy *reclaim;

static bool build_is_scan(void)
{
	return !strcmp(rmap_name, "scan");
}

const char *without_reverse_map(void)
{
	return build_is_scan() ? "it asks the reverse map, and RMAP=scan has none" : NULL;
}

const char *with_reverse_map(void)
{
	return build_is_scan() ? NULL : "it takes no care of a reverse map: build RMAP=scan";
}

/* The first policy of the list that this build can do: there is one. */
static const struct reclaim_policy *first_policy(void)
{
	unsigned i = 0;

	while (policies[i]->refuses())
		i++;
	return policies[i];
}

static const struct reclaim_policy *find_policy(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(policies); i++)
		if (!strcmp(policies[i]->name, name))
			return policies[i];
	return NULL;
}

/* The names of those that this build can do. */
static void list_names(char *to, size_t size)
{
	size_t at = 0;

	for (unsigned i = 0; i < ARRAY_LEN(policies) && at < size; i++)
		if (!policies[i]->refuses())
			at += (size_t)ksnprintf(to + at, size - at, "%s%s", at ? ", " : "",
						policies[i]->name);
}

/*
 * Choose the policy by name, with its rules of swap and of OOM, and set the watermarks. Called once at boot
 * when the frames are known. An unknown or refused name ends the boot in words.
 */
void reclaim_init(void)
{
	const struct reclaim_policy *policy;
	const char *why;
	char names[128];

	if (!*reclaim_name)
		strlcpy(reclaim_name, first_policy()->name, sizeof(reclaim_name));
	policy = find_policy(reclaim_name);
	list_names(names, sizeof(names));
	if (!policy)
		panic("reclaim=%s: there is no such policy; this build has: %s", reclaim_name,
		      names);
	why = policy->refuses();
	if (why)
		panic("reclaim=%s: not with this build: %s; it has: %s", reclaim_name, why, names);
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
 * Free all that is only a cache: pages of the swap cache whose contents are on disk, slots whose
 * contents are in memory, and empty slabs; and undo swapping, so that what is in use afterwards can be compared with
 * what was before. Returns frames freed. No locks held. Sleeps.
 */
unsigned reclaim_drop_caches(void)
{
	unsigned freed = 0;

	swap_undo();
	for (pfn_t pfn = 0; pfn < page_count; pfn++)
		freed += drop_page(pfn_page(pfn));
	return freed + slab_shrink();
}
