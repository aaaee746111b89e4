/* The active, inactive and clean lists of a zone. RANK_LRU is taken inside. */
#ifndef MM_LRU_H
#define MM_LRU_H

#include "mm/frame.h"

/* Where a page begins. */
enum lru_place { PLACE_ACTIVE, PLACE_INACTIVE, PLACE_NOWHERE };

/* Set by the reclaim policy at boot: which pages begin where. `global`: one pair of lists for
 * all zones, zone NORMAL's, as Linux 2.4 had it. */
struct lru_rules {
	enum lru_place fresh;		/* mapped for the first time, or copied    */
	enum lru_place wanted;		/* read because somebody faulted on it     */
	enum lru_place object;		/* a memory object's, at its first touch   */
	enum lru_place around;		/* read because a neighbour was wanted     */
	bool	       global;
	bool	       returns_unused;	/* to be swapped in is no use of a page (2.4) */
};
extern struct lru_rules lru_rules;

/* Are anonymous pages on a list only while the swap cache has them, as up to Linux 2.4.13? */
static inline bool lru_only_cached(void)
{
	return lru_rules.fresh == PLACE_NOWHERE;
}

/* The zone whose lists `p` belongs to. */
static inline struct zone *lru_zone(const struct page *p)
{
	return lru_rules.global ? &zones[ZONE_NORMAL] : page_zone(p);
}

/* A page that can be reclaimed enters a list; it holds no reference for that. */
void lru_insert_active(struct page *p);
void lru_insert_inactive(struct page *p);
static inline void lru_insert(struct page *p, enum lru_place place)
{
	if (place == PLACE_ACTIVE)
		lru_insert_active(p);
	else if (place == PLACE_INACTIVE)
		lru_insert_inactive(p);
}
/* Off its list, if on one. page_drop() of the last reference calls it. */
void lru_remove(struct page *p);
void lru_activate(struct page *p);
/* Referenced once: remember; referenced twice: activate (docs/history.md 4.4). */
void lru_mark_accessed(struct page *p);
/* To the inactive tail: its write is done, free it next. Interrupt context. */
void lru_rotate(struct page *p);

/* For reclaim: take pages off the old end, with a reference each, and give them back. */
enum lru_list { LRU_INACTIVE, LRU_ACTIVE, LRU_CLEAN };
unsigned lru_isolate(struct zone *z, enum lru_list which, unsigned count, struct list *batch);
void lru_putback(struct page *p);
/* For scans that leave the pages on their list: the oldest page of one, held, which goes to the
 * head; NULL: there is none. */
struct page *lru_next(struct zone *z, enum lru_list which);
/* A listed page goes to the head of the inactive list, or to that of its zone's clean pages and
 * from there back. */
void lru_deactivate(struct page *p);
void lru_make_clean(struct page *p);
void lru_make_dirty(struct page *p);
/* The same for one page, whatever its age: false if it is on no list. */
bool lru_isolate_page(struct page *p, struct list *batch);
unsigned lru_check(void);

#endif
