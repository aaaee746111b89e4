/*
 * Slab: caches of equal objects, and kmalloc() on top of them.
 *
 * A slab is one frame full of objects and nothing else; its descriptor (PG_SLAB) keeps
 * the books: mapping = the cache, index = objects in use, private = number of the first
 * free object, lru = the cache's list. A free object's first word holds the number of
 * the next free one under a tag, the rest a pattern; both are checked when the object is
 * taken, so that a write after free is told where it does harm.
 *
 * Slabs with free objects are on `partial`, empty ones at its end; full ones on `full`.
 */
#include "kernel/abi/sysinfo.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "mm/alloc_fail.h"
#include "mm/audit.h"
#include "mm/slab.h"

enum {
	SLAB_PATTERN = 0x6b6b6b6b,
	SLAB_TAG     = 0x5ab00000,	/* | number of the next free object */
	SLAB_TAG_MASK = 0xffff0000,
	SLAB_NONE    = 0xffff,		/* no next one */
	SLAB_TAKEN   = 0x7a6e0000,	/* first word of an object just taken */
	KMALLOC_MIN_SHIFT = 4,
	KMALLOC_MAX_SHIFT = 11,
};

static struct list caches = LIST_INIT(caches);
static uint32_t frames;			/* in all caches */

#define KMALLOC_CACHE(size) { .name = "kmalloc-" #size, .bytes = (size) }
static struct slab_cache kmalloc_caches[] = {
	KMALLOC_CACHE(16), KMALLOC_CACHE(32), KMALLOC_CACHE(64), KMALLOC_CACHE(128),
	KMALLOC_CACHE(256), KMALLOC_CACHE(512), KMALLOC_CACHE(1024), KMALLOC_CACHE(2048),
};
_Static_assert(ARRAY_LEN(kmalloc_caches) == KMALLOC_MAX_SHIFT - KMALLOC_MIN_SHIFT + 1,
	       "one cache a power of two");

/* Object number `n` of a slab. */
static uint32_t *object_at(const struct slab_cache *c, const struct page *slab, uint32_t n)
{
	return (uint32_t *)((char *)page_address(slab) + n * c->bytes);
}

/* The first use of a cache declared by SLAB_CACHE(). */
static void cache_init(struct slab_cache *c)
{
	c->bytes = (c->bytes + 7) & ~7u;
	KASSERT2(c->bytes <= PAGE_SIZE, "slab: object fits a frame", c->bytes, 0);
	c->per_slab = PAGE_SIZE / c->bytes;
	spin_init(&c->lock, RANK_SLAB);
	list_init(&c->partial);
	list_init(&c->full);
	list_insert_tail(&caches, &c->link);
}

/* Mark object `n` free; `next` is the free object after it. */
static void object_set_free(const struct slab_cache *c, uint32_t *object, uint32_t next)
{
	size_t words = c->bytes / 4 - 1;
	uint32_t *rest = object + 1;

	object[0] = SLAB_TAG | next;
	__asm__ volatile("rep stosl" : "+D"(rest), "+c"(words) : "a"(SLAB_PATTERN) : "memory");
}

/* Has nobody written to a free object? */
static bool object_intact(const struct slab_cache *c, const uint32_t *object)
{
	const uint32_t *rest = object + 1;
	size_t words = c->bytes / 4 - 1;
	bool same;

	if ((object[0] & SLAB_TAG_MASK) != SLAB_TAG)
		return false;
	__asm__ volatile("cmpl %%eax, %%eax; repe scasl"
			 : "+D"(rest), "+c"(words), "=@cce"(same) : "a"(SLAB_PATTERN) : "memory");
	return same;
}

/* A new slab for `c`, all objects free. NULL without memory. May sleep by `flags`. */
static struct page *slab_create(struct slab_cache *c, enum gfp flags)
{
	struct page *slab = page_alloc(flags & ~GFP_ZERO, 0);

	if (!slab)
		return NULL;
	for (uint32_t n = 0; n < c->per_slab; n++)
		object_set_free(c, object_at(c, slab, n),
				n + 1 < c->per_slab ? n + 1 : SLAB_NONE);
	page_set(slab, PG_SLAB);
	slab->mapping = c;
	slab->index = 0;
	slab->private = 0;
	return slab;
}

/* Take the first free object of the first partial slab. c->lock held. */
static uint32_t *take_object(struct slab_cache *c)
{
	struct page *slab = list_first(&c->partial, struct page, lru);
	uint32_t *object = object_at(c, slab, slab->private);

	if (!object_intact(c, object))
		panic("slab.1: cache %s: the free object at %p was written to", c->name,
		      (void *)object);
	slab->private = object[0] & ~SLAB_TAG_MASK;
	object[0] = SLAB_TAKEN;		/* else an object never written to would look free */
	slab->index++;
	c->used++;
	if (slab->private == SLAB_NONE) {
		list_remove(&slab->lru);
		list_insert(&c->full, &slab->lru);
	}
	return object;
}

/*
 * Take an object of cache `c`, whose first use it may be: uninitialised, or zeros with
 * GFP_ZERO. If no slab has a free one, a new slab is made, without c->lock, and the lists are
 * looked at again: another thread may have been quicker. Returns NULL without memory. Takes
 * c->lock; GFP_WAIT sleeps: no spinlock held (lock.2). Not from interrupts.
 */
void *slab_alloc(struct slab_cache *c, enum gfp flags)
{
	uint32_t *object;
	struct page *slab;

	if (flags & GFP_WAIT)
		KASSERT(!lock_any_spin_held(), "lock.2");
	if (!c->per_slab)
		cache_init(c);
	if (alloc_fails())
		return NULL;
	spin_lock(&c->lock);
	while (list_empty(&c->partial)) {
		spin_unlock(&c->lock);
		slab = slab_create(c, flags);
		if (!slab)
			return NULL;
		spin_lock(&c->lock);
		list_insert_tail(&c->partial, &slab->lru);
		c->slabs++;
		frames++;
	}
	object = take_object(c);
	spin_unlock(&c->lock);
	if (flags & GFP_ZERO)
		memset(object, 0, c->bytes);
	return object;
}

/*
 * Give `object` back to its cache `c`. It must be the begin of an object of a slab of `c`, and
 * not free already: anything else is a fault. It becomes the first of its slab's free objects,
 * with the pattern in it; the slab moves to the front of `partial`, or to its end if it is
 * empty now. Takes c->lock; never sleeps; not from interrupts.
 */
void slab_free(struct slab_cache *c, void *object)
{
	struct page *slab = address_page(object);
	uint32_t at = (uint32_t)((char *)object - (char *)page_address(slab));
	uint32_t n = at / c->bytes;

	KASSERT2(page_is(slab, PG_SLAB) && slab->mapping == c, "slab: object of this cache",
		 page_pfn(slab), slab->flags);
	KASSERT2(n * c->bytes == at && n < c->per_slab, "slab: begin of an object", at,
		 c->bytes);
	KASSERT2(!object_intact(c, object), "slab: freed twice", page_pfn(slab), at);
	spin_lock(&c->lock);
	object_set_free(c, object, slab->private);
	slab->private = n;
	slab->index--;
	c->used--;
	list_remove(&slab->lru);
	if (slab->index > 0)
		list_insert(&c->partial, &slab->lru);
	else
		list_insert_tail(&c->partial, &slab->lru);
	spin_unlock(&c->lock);
}

/*
 * Memory of any size, 8-byte aligned: from the cache of the next power of two up to
 * 2 KiB, else from whole frames. NULL without memory. GFP_WAIT sleeps.
 */
void *kmalloc(size_t bytes, enum gfp flags)
{
	unsigned shift = KMALLOC_MIN_SHIFT, order = 0;
	struct page *p;

	while (shift <= KMALLOC_MAX_SHIFT && bytes > 1u << shift)
		shift++;
	if (shift <= KMALLOC_MAX_SHIFT)
		return slab_alloc(&kmalloc_caches[shift - KMALLOC_MIN_SHIFT], flags);
	while (order < FRAME_ORDERS && bytes > (size_t)PAGE_SIZE << order)
		order++;
	if (order == FRAME_ORDERS)
		return NULL;
	p = page_alloc(flags, order);
	return p ? page_address(p) : NULL;
}

/* Free what kmalloc() gave; NULL is allowed. Never sleeps. */
void kfree(void *p)
{
	struct page *page;

	if (!p)
		return;
	page = address_page(p);
	if (page_is(page, PG_SLAB))
		slab_free(page->mapping, p);
	else
		page_free(page, page_is(page, PG_BLOCK) ? page->private : 0);
}

/* Frames that all caches hold. */
uint32_t slab_frames(void)
{
	return frames;
}

unsigned slab_rows(struct abi_slab_row *rows, unsigned max)
{
	const struct slab_cache *c;
	unsigned n = 0;

	list_for_each(c, &caches, link) {
		if (n == max)
			break;
		memset(&rows[n], 0, sizeof(rows[n]));
		strlcpy(rows[n].name, c->name, sizeof(rows[n].name));
		rows[n].bytes = c->bytes;
		rows[n].used = c->used;
		rows[n].slabs = c->slabs;
		n++;
	}
	return n;
}

unsigned slab_cache_number(const struct slab_cache *c)
{
	const struct slab_cache *other;
	unsigned n = 0;

	list_for_each(other, &caches, link) {
		if (other == c)
			break;
		n++;
	}
	return n;
}

/* Give the frame of an empty slab back. c->lock held. */
static void slab_destroy(struct slab_cache *c, struct page *slab)
{
	list_remove(&slab->lru);
	page_clear(slab, PG_SLAB);
	slab->mapping = NULL;
	c->slabs--;
	frames--;
	page_free(slab, 0);
}

/*
 * Give the frames of all empty slabs back; they stand at the end of each cache's `partial`
 * list. Returns how many frames that were. Takes each cache's lock in turn; never sleeps.
 */
unsigned slab_shrink(void)
{
	struct slab_cache *c;
	unsigned freed = 0;

	list_for_each(c, &caches, link) {
		spin_lock(&c->lock);
		while (!list_empty(&c->partial)) {
			struct page *slab = list_last(&c->partial, struct page, lru);

			if (slab->index > 0)
				break;
			slab_destroy(c, slab);
			freed++;
		}
		spin_unlock(&c->lock);
	}
	return freed;
}

/* slab.1 for one slab: its free list has per_slab - index objects, all intact. */
static unsigned check_slab(const struct slab_cache *c, const struct page *slab)
{
	uint32_t n = slab->private, free = 0;

	while (n != SLAB_NONE) {
		if (n >= c->per_slab || free > c->per_slab ||
		    !object_intact(c, object_at(c, slab, n)))
			return audit_violation("slab.1", "free objects are intact: cache %s, "
				"pfn %#x, object %u", c->name, page_pfn(slab), n);
		n = object_at(c, slab, n)[0] & ~SLAB_TAG_MASK;
		free++;
	}
	if (free + slab->index != c->per_slab || slab->mapping != c)
		return audit_violation("slab.1", "free + used = capacity: cache %s, pfn %#x, "
			"%u free, %u used of %u", c->name, page_pfn(slab), free, slab->index,
			c->per_slab);
	return 0;
}

/* Check slab.1 and the caches' figures; prints each violation, returns how many. */
unsigned slab_check(void)
{
	uint32_t all = 0;
	unsigned bad = 0;
	struct slab_cache *c;
	struct page *slab;

	list_for_each(c, &caches, link) {
		uint32_t used = 0, slabs = 0;

		list_for_each(slab, &c->partial, lru) {
			bad += check_slab(c, slab);
			used += slab->index;
			slabs++;
		}
		list_for_each(slab, &c->full, lru) {
			bad += check_slab(c, slab);
			used += slab->index;
			slabs++;
		}
		if (used != c->used || slabs != c->slabs)
			bad += audit_violation("slab.1", "a cache's figures are its slabs' "
				"sums: %s used %u (%u), slabs %u (%u)", c->name, c->used, used,
				c->slabs, slabs);
		all += slabs;
	}
	if (all != frames)
		bad += audit_violation("slab.1", "frames of all caches: %u, found %u", frames, all);
	return bad;
}
