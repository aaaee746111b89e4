/*
 * Memory objects: pages by index, and the vmas that map them. How their pages go to swap and
 * come back: mm/object_swap.c.
 *
 * object.1  tree[i] is a page with PG_OBJECT, mapping == this, index == i; or the entry of a
 *           slot in use (mm/object_tree.h tells them apart); or nothing
 * object.2  resident is the number of pages in the tree, each holding one count, and swapped
 *           that of swap entries, each holding one count of its slot
 * object.3  vmas lists exactly the vmas whose object is this one
 */
#ifndef MM_OBJECT_H
#define MM_OBJECT_H

#include "kernel/handle.h"
#include "kernel/list.h"
#include "kernel/lock.h"
#include "mm/page.h"
#include "mm/pgtable.h"

enum object_kind {
	OBJECT_MEMORY,		/* pages made on demand, zeroed, swapped like private
				 * memory; gone with the object */
	OBJECT_BOOT,		/* a boot module: all resident, never dirtied, never freed */
};

struct radix { void *root; uint32_t height; };	/* mm/radix.c */

struct object {
	struct kobject	kobject;	/* first */
	uint8_t		kind;		/* c  enum object_kind */
	struct spinlock lock;		/* RANK_OBJECT */
	struct radix	tree;		/* lock */
	uint32_t	page_count;	/* c  size in pages */
	uint32_t	bytes;		/* c  size in bytes */
	uint32_t	resident;	/* lock  pages */
	uint32_t	swapped;	/* lock  swap entries */
	uint32_t	committed;	/* c  pages counted against overcommit */
	struct list	vmas;		/* lock  vma->object_link */
	struct list	link;		/* all objects, for the audit */
};

/* Promised in full (commit_ask()), or, for MAP_NORESERVE, as far as the rule in force allows,
 * not at all. NULL without memory, or if overcommit refuses. Sleep. */
struct object *object_create(uint32_t page_count);
struct object *object_create_noreserve(uint32_t page_count);
/* Over frames that hold a boot module already. */
struct object *object_from_frames(pfn_t first, uint32_t bytes);

/* The page at `index`, with a reference: made, or brought back from swap, if need be. Sleeps.
 * NULL and *error: -EFAULT beyond the end, -ENOMEM, -EIO. */
struct page *object_get_page(struct object *o, uint32_t index, int *error);
/* The same for a fault: *major is set if a disk was asked. */
struct page *object_fault_page(struct object *o, uint32_t index, bool *major, int *error);
/* Is the page at `index` in memory, so that object_get_page() would find it? */
bool object_page_resident(struct object *o, uint32_t index);
/* Is it in swap? *e is its slot then. */
bool object_page_swapped(struct object *o, uint32_t index, swap_entry *e);
/* Copy to and from user memory at byte `offset`, as far as the object goes: the count (0 at
 * its end), or -EFAULT, -EINVAL (beyond the end; a boot module can't be written), -ENOMEM,
 * -EIO. Sleep. */
int object_read(struct object *o, uint32_t offset, vaddr_t to, size_t bytes);
int object_write(struct object *o, uint32_t offset, vaddr_t from, size_t bytes);

/* The n-th boot module with a reference, or NULL. */
struct object *object_boot_module(unsigned n);
void object_add_boot_module(struct object *o);

/*
 * Radix tree: index -> one word (never 0). None of these sleep, but radix_reserve(): when
 * radix_insert() fails with -ENOMEM, drop the tree's lock, reserve, and try again.
 * remove and replace return what was there.
 */
int   radix_insert(struct radix *r, uint32_t index, void *item) MUST_CHECK;
int   radix_reserve(void) MUST_CHECK;
void *radix_find(const struct radix *r, uint32_t index);
void *radix_replace(struct radix *r, uint32_t index, void *item);
void *radix_remove(struct radix *r, uint32_t index);
/* The first item at or after *index (which is set to its place), or NULL. */
void *radix_next(const struct radix *r, uint32_t *index);
unsigned radix_check(const struct radix *r);
void  radix_destroy(struct radix *r);		/* empty by now */

/* ---- Swap: mm/object_swap.c ---- */

/* Reclaim takes a page of an object, locked, mapped nowhere, which only the tree and the caller
 * hold: it goes over to the swap cache. False: somebody else holds it, or there is no slot.
 * Never sleeps. */
bool object_swap_out(struct page *p);
/* Replace the entry `e` at `index` by its page. OK also means that the entry isn't there any
 * more. -ENOMEM, -EIO. *major as above. Sleeps. */
int  object_swap_in(struct object *o, uint32_t index, swap_entry e, bool *major);
/* Bring back all pages of all objects from `area`, for swapoff: 0, -ENOMEM, -EIO, -EINTR (the
 * caller was killed), -EBUSY (new ones arise as fast). Sleeps. */
int  objects_unuse(unsigned area);
/* fn sees every swap entry in an object's tree and answers by which one it is to be replaced
 * (itself, mostly). Neither sleeps. */
void objects_for_each_entry(swap_entry (*fn)(swap_entry e, void *arg), void *arg);
/* The first swap entry of `area` (SWAP_AREAS_MAX: of any) at or after *index, which is set to its
 * place; 0: none. */
swap_entry object_next_entry(struct object *o, unsigned area, uint32_t *index);
/* Swap entries among the `count` words from `first` on. */
uint32_t object_swapped_within(struct object *o, uint32_t first, uint32_t count);

uint32_t objects_frames(void);		/* pages held by all objects */
uint32_t objects_memory_frames(void);	/* ... but the boot modules */
uint32_t objects_swapped(void);		/* ... and by swap entries */
unsigned object_check(void);

#endif
