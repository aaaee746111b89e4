/*
 * struct page: the descriptor of one frame of RAM. pages[pfn], for ever.
 *
 * frame.1  PG_BUDDY => count == 0, mapcount == 0, mapping == NULL, on a free list
 * frame.2  mapcount is the number of PTEs, in all mms, that map the frame
 *          (the shared zero page and reserved frames are not counted)
 * frame.3  count >= mapcount + (1 if in the swap cache) + (1 if an object holds it)
 * frame.4  PG_LRU <=> on exactly one of its zone's three lists; PG_ACTIVE and PG_CLEAN, never
 *          both, say which
 * frame.5  PG_ANON <=> mapping is the reverse map's, and then mapcount > 0 or it
 *          was unmapped and nobody has looked since; else mapping is an object or NULL
 * frame.6  PG_SWAPCACHE <=> swap_cache_lookup(private) == this page
 * frame.7  PG_WRITEBACK => PG_SWAPCACHE or held by an object, and one extra count
 * frame.12 PG_BUFFER => PG_SWAPCACHE
 * frame.8  every frame is in one state: free, slab, page table, kernel stack,
 *          reserved, object, anonymous or merely held; the sums give all of RAM
 *
 *   alloc            fault maps it        aged              unmapped, written
 *  FREE --> HELD ----> ACTIVE LRU ----> INACTIVE LRU ----> WRITEBACK ---> FREE
 *                          ^   referenced  |                   | found again
 *                          +---------------+<------------------+
 *
 * Locks.  i: interrupts off  l: zone's RANK_LRU  f: zone's RANK_FRAMES
 *         p: the page lock (PG_LOCKED)  t: RANK_PAGE_TABLE of the mm that changes it
 * Flags change with interrupts off or not in interrupts at all: page_set() and
 * page_clear() are one instruction each.
 */
#ifndef MM_PAGE_H
#define MM_PAGE_H

#include "kernel/list.h"
#include "kernel/types.h"
#include "mm/linear.h"
#include "rmap_types.h"		/* what the reverse map of this build adds */

enum page_flag {
	PG_LOCKED    = BIT(0),	/* one thread owns the contents; others sleep    */
	PG_WRITEBACK = BIT(1),	/* on its way to disk                            */
	PG_DIRTY     = BIT(2),	/* the copy on disk, if any, is older            */
	PG_REFERENCED= BIT(3),	/* used since last looked at                     */
	PG_UPTODATE  = BIT(4),	/* the contents are what they should be          */
	PG_ERROR     = BIT(5),	/* the last read failed                          */
	PG_LRU       = BIT(6),
	PG_ACTIVE    = BIT(7),
	PG_ANON      = BIT(8),
	PG_SWAPCACHE = BIT(9),	/* `private` is its slot                         */
	PG_RECLAIM   = BIT(10),	/* free it when the write is done                */
	PG_BUDDY     = BIT(11),	/* heads a free block; `private` is its order    */
	PG_SLAB      = BIT(12),
	PG_TABLE     = BIT(13),	/* page directory or page table                  */
	PG_KSTACK    = BIT(14),
	PG_RESERVED  = BIT(15),	/* kernel image, modules, holes, the zero page   */
	PG_OBJECT    = BIT(16),	/* `mapping` is an object, `index` its page      */
	PG_BUFFER    = BIT(17),	/* bears a buffer head of 2.4 (linux24_buffers.c)   */
	PG_NORMAL    = BIT(18),	/* in zone NORMAL, else in zone DMA              */
	PG_BLOCK     = BIT(19),	/* heads an allocated block of 2^private, order > 0 */
	PG_CLEAN     = BIT(20),	/* on the clean list: unused, and its slot holds the same */
};

/* The highest bits of flags: how old the page is, for policies that count that (linux249). */
#define PG_AGE_SHIFT 24
#define PG_AGE_MASK  (0x7f << PG_AGE_SHIFT)

struct page {
	uint32_t flags;		/* enum page_flag */
	uint32_t count;		/* references; 0 <=> free */
	uint32_t mapcount;	/* t  PTEs */
	void	*mapping;	/* p  the reverse map's (PG_ANON; never NULL) or struct object * */
	uint32_t index;		/* p  with mapping: the reverse map's, or page of the object */
	uint32_t private;	/* p  swap entry (PG_SWAPCACHE); f order (PG_BUDDY, PG_BLOCK) */
	struct list lru;	/* l  LRU list; f free list; else its holder's */
	struct rmap_page rmap;	/* empty where mapping and index suffice */
};
#ifdef __i386__
_Static_assert(sizeof(struct page) - sizeof(struct rmap_page) == 32,
	       "32 bytes a frame: what RAM costs");
#endif

extern struct page *pages;	/* [page_count] */
extern pfn_t page_count;	/* one more than the highest frame */

static inline pfn_t page_pfn(const struct page *p) { return (pfn_t)(p - pages); }
static inline struct page *pfn_page(pfn_t pfn) { return &pages[pfn]; }
static inline bool page_is(const struct page *p, uint32_t flags)
{
	return (p->flags & flags) != 0;
}
static inline void page_set(struct page *p, uint32_t flags)
{
	__atomic_fetch_or(&p->flags, flags, __ATOMIC_RELAXED);
}
static inline void page_clear(struct page *p, uint32_t flags)
{
	__atomic_fetch_and(&p->flags, ~flags, __ATOMIC_RELAXED);
}

static inline uint32_t page_age(const struct page *p)
{
	return (p->flags & PG_AGE_MASK) >> PG_AGE_SHIFT;
}
static inline void page_set_age(struct page *p, uint32_t age)
{
	page_clear(p, PG_AGE_MASK);
	page_set(p, age << PG_AGE_SHIFT);
}

/* Zero and copy whole frames, a word a step. */
static inline void page_zero(void *to)
{
	size_t words = PAGE_SIZE / 4;

	__asm__ volatile("rep stosl" : "+D"(to), "+c"(words) : "a"(0) : "memory");
}
static inline void page_copy(void *to, const void *from)
{
	size_t words = PAGE_SIZE / 4;

	__asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}
static inline paddr_t page_paddr(const struct page *p)
{
	return page_pfn(p) << PAGE_SHIFT;
}
/* Where the kernel sees the frame, and whose frame an address of the linear map is in. */
static inline void *page_address(const struct page *p)
{
	return paddr_address(page_paddr(p));
}
static inline struct page *address_page(const void *kernel_address)
{
	return pfn_page(address_paddr(kernel_address) >> PAGE_SHIFT);
}

/* References that PTEs, the swap cache and an object explain: who counts more has met somebody
 * that holds the page. */
static inline uint32_t page_known_refs(const struct page *p)
{
	return p->mapcount + page_is(p, PG_SWAPCACHE) + page_is(p, PG_OBJECT);
}

/* References: hold and drop; dropping the last one frees the frame. */
void page_hold(struct page *p);
void page_drop(struct page *p);

/* The page lock. page_lock() sleeps (no spinlock held). An unlock wakes. */
void page_lock(struct page *p);
bool page_trylock(struct page *p);
void page_unlock(struct page *p);
/* Sleep until the page isn't under write-back. */
void page_wait_writeback(struct page *p);
/* End of write-back: PG_WRITEBACK goes, sleepers wake. Interrupt context. */
void page_end_writeback(struct page *p);

#endif
