/*
 * Page reclaim: one policy in force, chosen by reclaim=NAME at boot. A policy is a file
 * in mm/reclaim/ that fills a struct reclaim_policy; mechanisms that several share are in
 * mm/reclaim/shrink.c. RECLAIM_VERSION: docs/CHANGES.md.
 */
#ifndef MM_RECLAIM_H
#define MM_RECLAIM_H

#include "mm/lru.h"
#include "mm/swap/rules.h"

#define RECLAIM_VERSION 3

struct reclaim_policy {
	const char *name;		/* value of reclaim= */
	/* Set min, low, high of every zone; called at boot and after RAM is known. */
	void (*set_watermarks)(void);
	/* page_alloc()'s loop: watermarks, waking kswapd, direct reclaim, retries. */
	struct page *(*alloc)(enum gfp flags, unsigned order);
	/* One turn of kswapd's life: sleep (kswapd_sleep()), then see to it. NULL: it is made of the
	 * next two. */
	void (*kswapd)(void);
	/* One run of kswapd: returns when all zones are well or nothing can be done. Tests ask for
	 * one, too. */
	void (*balance)(void);
	/* Does kswapd have to run? Tested when it is woken. */
	bool (*needs_balance)(void);
	struct lru_rules lru;		/* where pages begin */
	/* What belonged to its time; each has a parameter that wins. */
	struct swap_rules swap;
	/* What swap I/O cost at the time. `p`, locked and in the swap cache, is to be written or read;
	 * it leaves the cache. The first may sleep for a read. NULL: nothing. */
	void (*swap_io)(struct page *p, bool write);
	void (*swap_uncached)(struct page *p);
	const char *oom;		/* oom= */
	const void *own;		/* what the policy itself keeps here */
};
extern const struct reclaim_policy *reclaim;

void reclaim_init(void);		/* choose the policy, set watermarks */
void kswapd_start(void);
void kswapd_wake(void);			/* any context */
/* For policies' kswapd(): sleep until woken, or for `ms` (0: no limit). True if woken. */
bool kswapd_sleep(unsigned ms);
ns_t kswapd_time_ns(void);
/* Free every page that is only a cache (clean swap cache, empty slabs), and bring back what
 * was swapped out, if it fits well. Returns frames freed. Sleeps. */
unsigned reclaim_drop_caches(void);

/* Reclaim the pages of `batch`, taken by lru_isolate_page(), whatever their age: at most
 * RECLAIM_BATCH. What can't be freed goes back to the lists. Sleeps. */
enum { RECLAIM_BATCH = 32 };		/* pages looked at in one go (SWAP_CLUSTER_MAX) */
void reclaim_isolated(struct list *batch);

/* One round of reclaim: what it is after, and what it has done so far. */
struct scan_control {
	uint32_t wanted;		/* frames to free */
	uint32_t freed;
	uint32_t priority;		/* shift: 12 gentle ... 0 all */
	bool	 kswapd;
	enum gfp flags;
};

#endif
