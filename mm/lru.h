/* The active and inactive lists of a zone. RANK_LRU is taken inside. */
#ifndef MM_LRU_H
#define MM_LRU_H

#include "mm/frame.h"

/* A page that can be reclaimed enters a list; it holds no reference for that. */
void lru_insert_active(struct page *p);
void lru_insert_inactive(struct page *p);
/* Off its list, if on one. page_drop() of the last reference calls it. */
void lru_remove(struct page *p);
void lru_activate(struct page *p);
/* Referenced once: remember; referenced twice: activate (docs/history.md 4.4). */
void lru_mark_accessed(struct page *p);
/* To the inactive tail: its write is done, free it next. Interrupt context. */
void lru_rotate(struct page *p);

/* For reclaim: take pages off the old end, with a reference each, and give them back. */
enum lru_list { LRU_INACTIVE, LRU_ACTIVE };
unsigned lru_isolate(struct zone *z, enum lru_list which, unsigned count, struct list *batch);
void lru_putback(struct page *p);
/* The same for one page, whatever its age: false if it is on no list. */
bool lru_isolate_page(struct page *p, struct list *batch);
unsigned lru_check(void);

#endif
