/*
 * The active and inactive lists, one pair a zone (or one for all: lru_rules.global). New pages enter
 * at the head and age towards the tail, from where reclaim takes them in batches (lru_isolate), or
 * looks at them one by one (lru_next). A policy may have a third list of pages that can be had
 * at once, the clean ones of each zone.
 *
 * A listed page holds no reference for that: page_drop() of the last reference takes
 * it off. An isolated page is on no list (no PG_LRU), holds one reference, and is
 * linked through page->lru by whoever isolated it.
 *
 * Locks: each function takes its zone's RANK_LRU itself. The end of a write rotates
 * pages from interrupt context.
 */
#include "mm/lru.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/trace.h"
#include "mm/audit.h"

struct lru_rules lru_rules = { .around = PLACE_INACTIVE };

enum lru_end { LRU_HEAD, LRU_TAIL };

/* A list, and where it is counted. */
struct place {
	struct list *head;
	uint32_t    *count;
};

/* The list that the flags of `p` say. Clean pages are on their own zone's, even where the others
 * are on one for all. */
static struct place place_of(const struct page *p)
{
	struct zone *z = lru_zone(p);

	if (page_is(p, PG_ACTIVE))
		return (struct place){ &z->active, &z->active_count };
	if (!page_is(p, PG_CLEAN))
		return (struct place){ &z->inactive, &z->inactive_count };
	z = page_zone(p);
	return (struct place){ &z->clean, &z->clean_count };
}

/* Enter the list that PG_ACTIVE and PG_CLEAN say. lru_lock held. */
static void link_page(struct page *p, enum lru_end end)
{
	struct place place = place_of(p);

	KASSERT2(!page_is(p, PG_LRU | PG_BUDDY | PG_RESERVED), "frame.4", page_pfn(p), p->flags);
	page_set(p, PG_LRU);
	if (end == LRU_HEAD)
		list_insert(place.head, &p->lru);
	else
		list_insert_tail(place.head, &p->lru);
	(*place.count)++;
	if (!page_is(p, PG_ACTIVE | PG_CLEAN))
		page_zone(p)->inactive_here++;
}

/* Leave it. lru_lock held. */
static void unlink_page(struct page *p)
{
	KASSERT2(page_is(p, PG_LRU), "frame.4", page_pfn(p), p->flags);
	page_clear(p, PG_LRU);
	list_remove(&p->lru);
	(*place_of(p).count)--;
	if (!page_is(p, PG_ACTIVE | PG_CLEAN))
		page_zone(p)->inactive_here--;
}

void lru_insert_active(struct page *p)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);

	KASSERT2(!page_is(p, PG_LRU | PG_BUDDY | PG_RESERVED), "frame.4", page_pfn(p), p->flags);
	page_set(p, PG_LRU | PG_ACTIVE);
	list_insert(&z->active, &p->lru);
	z->active_count++;
	spin_unlock_irq(&z->lru_lock, flags);
	TRACE(LRU_ADD, page_pfn(p), 1, 0);
}

void lru_insert_inactive(struct page *p)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);

	page_clear(p, PG_ACTIVE | PG_CLEAN);
	link_page(p, LRU_HEAD);
	spin_unlock_irq(&z->lru_lock, flags);
	TRACE(LRU_ADD, page_pfn(p), 0, 0);
}

void lru_remove(struct page *p)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);

	if (page_is(p, PG_LRU))
		unlink_page(p);
	page_clear(p, PG_ACTIVE | PG_CLEAN | PG_REFERENCED | PG_RECLAIM);
	spin_unlock_irq(&z->lru_lock, flags);
}

/* To the head of the active list, if it is on another. */
void lru_activate(struct page *p)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);

	if (page_is(p, PG_LRU) && !page_is(p, PG_ACTIVE)) {
		unlink_page(p);
		page_clear(p, PG_CLEAN);
		page_set(p, PG_ACTIVE);
		link_page(p, LRU_HEAD);
		COUNT(pgactivate);
		TRACE(ACTIVATE, page_pfn(p), 0, 0);
	}
	spin_unlock_irq(&z->lru_lock, flags);
}

/* inactive -> inactive, referenced -> active -> active, referenced. */
void lru_mark_accessed(struct page *p)
{
	if (!page_is(p, PG_REFERENCED)) {
		page_set(p, PG_REFERENCED);
		return;
	}
	if (page_is(p, PG_LRU) && !page_is(p, PG_ACTIVE)) {
		page_clear(p, PG_REFERENCED);
		lru_activate(p);
	}
}

void lru_rotate(struct page *p)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);

	if (page_is(p, PG_LRU) && !page_is(p, PG_ACTIVE | PG_CLEAN)) {
		list_remove(&p->lru);
		list_insert_tail(&z->inactive, &p->lru);
		COUNT(pgrotated);
	}
	spin_unlock_irq(&z->lru_lock, flags);
}

/*
 * Take up to `count` pages off the tail of z's active or inactive list, hold each and
 * append them to `batch`, oldest first (frame.4: PG_LRU goes). Returns how many. They go back
 * by lru_putback(). Takes RANK_LRU; never sleeps.
 */
unsigned lru_isolate(struct zone *z, enum lru_list which, unsigned count, struct list *batch)
{
	struct list *head = which == LRU_ACTIVE ? &z->active : &z->inactive;
	uint32_t flags = spin_lock_irq(&z->lru_lock);
	unsigned taken = 0;

	while (taken < count && !list_empty(head)) {
		struct page *p = list_last(head, struct page, lru);

		unlink_page(p);
		page_hold(p);
		list_insert_tail(batch, &p->lru);
		taken++;
	}
	spin_unlock_irq(&z->lru_lock, flags);
	return taken;
}

/* Is `p`, on no list, one that the rules keep off the lists, though reclaim can take it? */
static bool is_unlisted(const struct page *p)
{
	return lru_only_cached() && page_is(p, PG_ANON | PG_OBJECT) &&
	       list_empty(&p->lru);
}

/*
 * Take `p`, which the caller knows not to be free, off its list, hold it and append it to
 * `batch`, as a page that nobody has used. False if it is on no list, unless the rules say so: it
 * isn't one that reclaim could take, or somebody else has isolated it. Never sleeps.
 */
bool lru_isolate_page(struct page *p, struct list *batch)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);
	bool listed = page_is(p, PG_LRU), taken = listed || is_unlisted(p);

	if (listed)
		unlink_page(p);
	if (taken) {
		page_clear(p, PG_ACTIVE | PG_CLEAN | PG_REFERENCED);
		page_hold(p);
		list_insert_tail(batch, &p->lru);
	}
	spin_unlock_irq(&z->lru_lock, flags);
	return taken;
}

/* Where pages like `p` begin. */
static enum lru_place beginning(const struct page *p)
{
	if (page_is(p, PG_SWAPCACHE))
		return lru_rules.around;
	return page_is(p, PG_OBJECT) ? lru_rules.object : lru_rules.fresh;
}

/* Back to the head of the list that PG_ACTIVE says, unless the rules keep it off the lists; drops the
 * reference that lru_isolate() took, which may be the last. `p` is on no list of the caller's. */
void lru_putback(struct page *p)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);

	if (beginning(p) != PLACE_NOWHERE)
		link_page(p, LRU_HEAD);
	else
		page_clear(p, PG_ACTIVE);
	spin_unlock_irq(&z->lru_lock, flags);
	page_drop(p);
}

/* `p`, if it is on a list, goes to the head of the inactive one, or of its zone's clean one. */
static void move(struct page *p, bool clean)
{
	struct zone *z = lru_zone(p);
	uint32_t flags = spin_lock_irq(&z->lru_lock);

	if (page_is(p, PG_LRU)) {
		unlink_page(p);
		page_clear(p, PG_ACTIVE | PG_CLEAN);
		if (clean)
			page_set(p, PG_CLEAN);
		link_page(p, LRU_HEAD);
	}
	spin_unlock_irq(&z->lru_lock, flags);
}

void lru_deactivate(struct page *p)
{
	COUNT(pgdeactivate);
	TRACE(DEACTIVATE, page_pfn(p), 0, 0);
	move(p, false);
}

void lru_make_clean(struct page *p)
{
	move(p, true);
}

void lru_make_dirty(struct page *p)
{
	move(p, false);
}

struct page *lru_next(struct zone *z, enum lru_list which)
{
	struct list *head = which == LRU_ACTIVE ? &z->active : which == LRU_CLEAN ? &z->clean :
			    &z->inactive;
	struct spinlock *lock = lru_rules.global ? &zones[ZONE_NORMAL].lru_lock : &z->lru_lock;
	uint32_t flags = spin_lock_irq(lock);
	struct page *p = NULL;

	if (!list_empty(head)) {
		p = list_last(head, struct page, lru);
		list_remove(&p->lru);
		list_insert(head, &p->lru);
		page_hold(p);
	}
	spin_unlock_irq(lock, flags);
	return p;
}

/* frame.4 of one list: its pages have `flag`, and PG_LRU, and are as many as were counted. */
static unsigned check_list(const struct zone *z, const struct list *head, uint32_t expected,
			   uint32_t flag)
{
	const char *name = flag == PG_ACTIVE ? "active" : flag == PG_CLEAN ? "clean" : "inactive";
	unsigned bad = 0;
	uint32_t n = 0;
	struct page *p;

	list_for_each(p, head, lru) {
		if (++n > page_count)
			break;
		if (!page_is(p, PG_LRU) || (p->flags & (PG_ACTIVE | PG_CLEAN)) != flag)
			bad += audit_violation("frame.4", "pfn %#x is on the %s list of %s, flags %#x",
					       page_pfn(p), name, z->name, p->flags);
		if (p->count == 0)
			bad += audit_violation("frame.4", "pfn %#x is listed and free", page_pfn(p));
		if ((flag == PG_CLEAN ? page_zone(p) : lru_zone(p)) != z)
			bad += audit_violation("frame.4", "pfn %#x is on a list of %s", page_pfn(p),
					       z->name);
	}
	if (n != expected)
		bad += audit_violation("frame.4", "%s: %u pages are on the %s list, %u were counted",
				       z->name, n, name, expected);
	return bad;
}

unsigned lru_check(void)
{
	unsigned bad = 0, flagged = 0, counted = 0, inactive = 0;
	pfn_t pfn;

	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		const struct zone *z = &zones[i];

		bad += check_list(z, &z->active, z->active_count, PG_ACTIVE);
		bad += check_list(z, &z->inactive, z->inactive_count, 0);
		bad += check_list(z, &z->clean, z->clean_count, PG_CLEAN);
		counted += z->active_count + z->inactive_count + z->clean_count;
		inactive += z->inactive_count - z->inactive_here;
	}
	for (pfn = 0; pfn < page_count; pfn++)
		flagged += page_is(pfn_page(pfn), PG_LRU);
	if (flagged != counted)
		bad += audit_violation("frame.4", "%u pages have PG_LRU, %u are listed",
				       flagged, counted);
	if (inactive != 0)
		bad += audit_violation("frame.4", "the zones count %u inactive pages less than are "
				       "listed", inactive);
	return bad;
}
