/*
 * Slab: caches of equal objects, one or a few frames a slab.
 * slab.1  free + used objects of a slab = its capacity; an empty slab is given back
 *         when reclaim asks.
 * Freed objects are filled with a pattern, checked when they are taken again.
 */
#ifndef MM_SLAB_H
#define MM_SLAB_H

#include "kernel/list.h"
#include "kernel/lock.h"
#include "mm/frame.h"

struct slab_cache {
	const char *name;
	uint32_t    bytes;		/* of one object, rounded up to 8 */
	uint32_t    per_slab;
	struct spinlock lock;		/* RANK_SLAB */
	struct list partial, full;
	struct list link;		/* all caches */
	uint32_t    used, slabs;
};
#define SLAB_CACHE(var, cache_name, type) \
	static struct slab_cache var = { .name = (cache_name), .bytes = sizeof(type) }

/* Objects come uninitialised. NULL without memory. GFP_WAIT sleeps. */
void *slab_alloc(struct slab_cache *c, enum gfp flags);
void  slab_free(struct slab_cache *c, void *object);

/* Odd sizes up to 2 KiB from caches of powers of two; larger ones from whole frames. */
void *kmalloc(size_t bytes, enum gfp flags);
void  kfree(void *p);
uint32_t slab_frames(void);
/* Fill rows[max], a cache each, in the order of slab_cache_number(). Returns how many. */
struct abi_slab_row;
unsigned slab_rows(struct abi_slab_row *rows, unsigned max);
unsigned slab_cache_number(const struct slab_cache *c);
unsigned slab_shrink(void);		/* give empty slabs back; returns frames */
unsigned slab_check(void);

#endif
