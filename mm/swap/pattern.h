/* Inside mm/swap/: which pages a fault brings along with swap.window=pattern. */
#ifndef MM_SWAP_PATTERN_H
#define MM_SWAP_PATTERN_H

#include "mm/frame.h"
#include "mm/swap.h"

enum { PATTERN_MAX = 256 };		/* pages of a window; pointers on the kernel stack */

unsigned pattern_gather(struct vma *v, vaddr_t addr, struct page *wanted, struct page **batch);
unsigned pattern_read_on(struct vma *v, vaddr_t addr, struct page **batch);

/* ---- readahead.c ---- */
/* Would reading `e` help: is the slot in use, and without a page? */
bool swap_worth_reading(swap_entry e);
/* A fresh locked page for `e` in the cache, with a reference; NULL: no memory (`how` as for
 * page_alloc()), or the slot is free by now or has got a page. */
struct page *swap_new_cached_page(swap_entry e, enum gfp how);

#endif
