/* The policies that mm/reclaim/ has, and what they share beyond mm/reclaim.h. */
#ifndef MM_RECLAIM_POLICIES_H
#define MM_RECLAIM_POLICIES_H

#include "kernel/counters.h"
#include "mm/frame.h"
#include "mm/reclaim.h"
#include "mm/vma.h"

/* What a build has, ended by NULL (mm/reclaim/rmap/list.c or scan/list.c, by RMAP), and the names
 * of what it hasn't, with the reason. */
extern const struct reclaim_policy *const reclaim_policies[];
extern const char *const reclaim_elsewhere[];
extern const char reclaim_why_not[];

/* With a reverse map: mm/reclaim/rmap/. */
extern const struct reclaim_policy reclaim_default;	/* default.c */
extern const struct reclaim_policy reclaim_linux26;	/* linux26.c */
/* Without: mm/reclaim/scan/. */
extern const struct reclaim_policy reclaim_linux249;	/* linux249.c */
extern const struct reclaim_policy reclaim_linux22;	/* linux22.c */
extern const struct reclaim_policy reclaim_linux2413;	/* linux2413.c */
extern const struct reclaim_policy reclaim_linux2414_pre5, reclaim_linux2414_pre6,
	reclaim_linux2414;				/* linux2414.c */
extern const struct reclaim_policy reclaim_aa;		/* linux24_aa.c */
extern const struct reclaim_policy reclaim_skraw1, reclaim_skraw2; /* linux24_skraw.c */

/* ---- linux26.c: of the table above, what can be written anew ---- */

void linux26_set_watermarks(void);
void default_set_watermarks(void);	/* default.c */
void linux26_balance(void);
struct page *linux26_alloc(enum gfp flags, unsigned order);
bool linux26_needs_balance(void);

/* Pages were looked at, or one was freed, by kswapd or by an allocating thread. */
static inline void count_scanned(bool kswapd, uint32_t n)
{
	if (kswapd)
		COUNT_ADD(pgscan_kswapd, n);
	else
		COUNT_ADD(pgscan_direct, n);
}
static inline void count_freed(bool kswapd)
{
	if (kswapd)
		COUNT(pgsteal_kswapd);
	else
		COUNT(pgsteal_direct);
}

/* ---- shrink.c ---- */

enum {
	RECLAIM_PRIORITY = 12,		/* DEF_PRIORITY: where a round of reclaim begins */
};

/* What is to become of an isolated page. */
enum verdict {
	PAGE_KEEP,		/* back to the inactive list */
	PAGE_ACTIVATE,		/* back to the active list */
	PAGE_WRITE,		/* still locked; to the disk, then inactive */
	PAGE_FREE,		/* our reference is the last */
};
/* Judge `p`, locked and off the lists. */
enum verdict shrink_judge(struct page *p, const struct scan_control *sc);
/* Must the page go to another slot, since its own can't be used any more? And: it leaves that,
 * if no PTE names it. False: some do, and there is no other slot. Locked. */
bool slot_is_lost(const struct page *p);
bool leave_slot(struct page *p);
/* From the active to the inactive list: `count` pages of z's old end are looked at; mapped
 * ones are spared if they were used, or all of them unless `take_mapped`. */
void refill_inactive(struct zone *z, unsigned count, bool take_mapped);
/* Is the disk so busy with writes that this reclaimer (not kswapd) may not add any? */
bool must_wait_for_writes(const struct scan_control *sc);
/* Look at `count` pages of z's inactive tail and free what can be freed. */
void shrink_inactive(struct zone *z, unsigned count, struct scan_control *sc);

/* ---- mm_walk.c ---- */

/* `p` is what the PTE at `addr` of `v` maps. False: stop here. page_table_lock held. */
typedef bool (*mm_visit)(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte, void *arg);
/* Visit the PTEs of `mm` from mm->swap_address on. True: its end was reached. */
bool mm_walk(struct mm *mm, mm_visit visit, void *arg);
uint32_t mm_count(void);		/* how many mms there are */

/* ---- alloc.c ---- */

/* A block from `z` if that leaves it at least `mark` frames free; NULL: none. */
static inline struct page *zone_take(struct zone *z, unsigned order, uint32_t mark)
{
	return z->free >= mark + (1u << order) ? frame_take(z, order) : NULL;
}

/* Around an allocating thread's own reclaim: it may use the reserve, and its CPU time is counted.
 * The first returns what the second takes. */
ns_t direct_reclaim_begin(void);
void direct_reclaim_end(ns_t since);

enum mark { MARK_NONE, MARK_HALF, MARK_MIN, MARK_LOW };
/* A block from the highest allowed zone that stays above its watermark; NULL: none. */
struct page *take_above(enum gfp flags, unsigned order, enum mark mark);
/* May the running thread use the reserve below the watermarks, for what `flags` say? */
bool may_use_reserve(enum gfp flags);
/* Sleep 20 ms, as 2.6.5 did (HZ/50); then zones that were given up are worth a look again. */
void wait_for_memory(void);
/* After reclaim freed nothing: may the caller try again? Asks the OOM rule, and waits for a
 * victim's memory, for a bounded time. Sleeps. */
bool oom_then_retry(unsigned order);

#endif
