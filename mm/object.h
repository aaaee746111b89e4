/*
 * Memory objects: pages by index, and the vmas that map them.
 *
 * object.1  tree[i] is a page with PG_OBJECT, mapping == this, index == i; or a swap
 *           entry (odd word: entry << 1 | 1); or nothing
 * object.2  resident is the number of pages in the tree, each holding one count
 * object.3  vmas lists exactly the vmas whose object is this one
 */
#ifndef MM_OBJECT_H
#define MM_OBJECT_H

#include "kernel/handle.h"
#include "kernel/list.h"
#include "kernel/lock.h"
#include "mm/page.h"

enum object_kind {
	OBJECT_MEMORY,		/* pages made on demand, zeroed; gone with the object */
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
	uint32_t	resident;	/* lock */
	struct list	vmas;		/* lock  vma->object_link */
	struct list	link;		/* all objects, for the audit */
};

/* NULL without memory. Sleeps. */
struct object *object_create(uint32_t page_count);
/* Over frames that hold a boot module already. */
struct object *object_from_frames(pfn_t first, uint32_t bytes);

/* The page at `index`, with a reference, made if need be. Sleeps.
 * NULL and *error: -EFAULT beyond the end, -ENOMEM. */
struct page *object_get_page(struct object *o, uint32_t index, int *error);
/* Copy to and from user memory at byte `offset`, as far as the object goes: the count (0 at
 * its end), or -EFAULT, -EINVAL (beyond the end; a boot module can't be written), -ENOMEM.
 * Sleep. */
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

uint32_t objects_frames(void);		/* pages held by all objects */
unsigned object_check(void);

#endif
