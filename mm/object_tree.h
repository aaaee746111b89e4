/* Inside mm/: the words of an object's tree, and what the files about objects share. */
#ifndef MM_OBJECT_TREE_H
#define MM_OBJECT_TREE_H

#include "mm/object.h"
#include "mm/pgtable.h"

/*
 * A word is a page's address, which is a multiple of 4, or a swap entry, whose two lowest bits
 * are 2 (mm/pgtable.h); 0 is no word.
 */
static inline bool word_is_entry(const void *word)
{
	return pte_is_swap((pte_t)(uintptr_t)word);
}

static inline swap_entry word_entry(const void *word)
{
	return (swap_entry){ (uint32_t)(uintptr_t)word };
}

static inline void *word_of_entry(swap_entry e)
{
	return (void *)(uintptr_t)e.v;
}

/* All objects, of which everyone has a reference from somebody. Walks don't sleep. */
extern struct list objects_all;

/* `p`, in no tree, becomes the page at `index` of `o`, whose word the caller sets; the tree's
 * reference is the caller's to take. And the way back, with the reference. o->lock held. */
void object_page_enters(struct object *o, uint32_t index, struct page *p);
void object_page_leaves(struct object *o, struct page *p);

#endif
