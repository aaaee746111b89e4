/*
 * Inside mm/reclaim/: what the kernels from Linux 2.4.13 to 2.4.14 have in common
 * (docs/history.md 2.1 to 2.9) and in what they differ. One of them is in force.
 */
#ifndef MM_RECLAIM_LINUX24_H
#define MM_RECLAIM_LINUX24_H

#include "mm/oom.h"
#include "mm/reclaim/policies.h"

enum {
	SWAP_CLUSTER = 32,		/* SWAP_CLUSTER_MAX: frames that a round is to free */
	LINUX24_PRIORITY = 6,		/* DEF_PRIORITY: a divisor; a round goes down to 1  */
};

/* What shrink_cache does when it has met more mapped pages than it has patience for. */
enum out_of_patience {
	MAPPED_ENDS,			/* it ends (2.4.13)                        */
	MAPPED_SWAPS_AND_ENDS,		/* swap_out, and it ends (2.4.14)          */
	MAPPED_SWAPS_AND_GOES_ON,	/* swap_out, and it goes on (-aa)          */
	MAPPED_SWAPS_AFTER_SCAN,	/* it goes on, and swap_out when it is through */
	MAPPED_SWAPS_IF_WANTED,		/* ... if frames are still wanted then     */
};

/* Whom a failure leads to the OOM rule. */
enum oom_question {
	OOM_BY_KSWAPD_UNBALANCED,	/* kswapd alone, also after a pass that left work to do */
	OOM_BY_EACH_FAILURE,		/* each try_to_free_pages that failed */
};

/* One kernel. */
struct linux24_kernel {
	/* How many mapped pages may shrink_cache meet? `wanted` frames are to be freed, `part`
	 * is the part of the inactive list that the priority gives. */
	uint32_t (*patience)(uint32_t wanted, uint32_t priority, uint32_t part);
	enum out_of_patience out_of_patience;
	bool only_mapped_count;		/* the scan ends with its patience, not before */
	/* What swap_out is to unmap (NULL: SWAP_CLUSTER). */
	uint32_t (*swap_target)(uint32_t priority);
	bool swap_each_round;		/* try_to_free_pages calls swap_out, too, at each priority */
	bool swap_part_of_mms;		/* swap_out visits a part of them by priority */
	bool swap_out_is_success;	/* try_to_free_pages counts it as such */
	bool swap_out_fails_once;	/* not called again in a round when it failed */
	bool demoted_is_referenced;	/* refill marks what becomes inactive */
	bool write_drops_ownerless;	/* a page that only its slot knows isn't written */
	enum oom_question oom;
	unsigned order_for_ever;	/* up to this order an allocation tries on */
};

/* A call of try_to_free_pages. */
struct linux24_round {
	const struct linux24_kernel *kernel;
	enum zone_kind	class;		/* frees frames of this zone and those below */
	enum oom_asker	asker;
	uint32_t	priority;
	uint32_t	wanted;		/* frames still to be freed at this priority */
	uint32_t	freed;		/* ... that were */
	bool		swap_out_failed;	/* once at least */
	bool		no_write;	/* begin none, wait for none (GFP_NOFS) */
};

static inline bool linux24_in_class(const struct linux24_round *r, const struct page *p)
{
	return r->class == ZONE_NORMAL || !page_is(p, PG_NORMAL);
}

/* ---- linux24.c: of a policy's table ---- */

/* min of each zone by its size, low and high two and three times that. 2.1 */
void linux24_set_watermarks(void);
struct page *linux24_alloc(enum gfp flags, unsigned order);
void linux24_kswapd(void);

/* ---- linux2414.c ---- */

/* Ten mapped pages for each one wanted. */
uint32_t linux24_patience_pre(uint32_t wanted, uint32_t priority, uint32_t part);

/* ---- linux24_lists.c ---- */

void linux24_refill(const struct linux24_kernel *k, uint32_t count);
void linux24_shrink_cache(struct linux24_round *r);

/* ---- linux24_buffers.c ---- */

void linux24_buffer_attach(struct page *p, bool write);
void linux24_buffer_release(struct page *p);
uint32_t linux24_buffers_shrink(void);

/* ---- linux24_swap_out.c ---- */

/* True if it unmapped what it should. */
bool linux24_swap_out(struct linux24_round *r);
/* Parts of it that 2.4.9 had too. The PTE becomes its page's swap entry: false if the page is busy or
 * gets no slot. page_table_lock held. And: the first mm of mm_all, under the hand, becomes the last. */
bool linux24_unmap_pte(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte);
void linux24_next_mm(void);

/* What the swap of all of them has in common; `.free` is each one's own. */
#define LINUX24_SWAP							\
	.cluster = 256, .readahead = READAHEAD_BY_RAM,			\
	.search = SEARCH_24, .window = WINDOW_HOLE

/* Which pages are on the global lists: anonymous ones from the first touch on, or only in the swap
 * cache. */
#define LINUX24_LISTED(anonymous)					\
	{ .fresh = (anonymous), .wanted = PLACE_INACTIVE,		\
	  .object = PLACE_INACTIVE, .around = PLACE_INACTIVE, .global = true,	\
	  .returns_unused = true }
#define LINUX24_ALL_LISTED	LINUX24_LISTED(PLACE_INACTIVE)
#define LINUX24_CACHED_LISTED	LINUX24_LISTED(PLACE_NOWHERE)

/* The table of the policy of a struct linux24_kernel, but for name, rules of swap and of OOM, and
 * lists. */
#define LINUX24_POLICY(kernel)						\
	.own		 = &(kernel),					\
	.set_watermarks	 = linux24_set_watermarks,			\
	.alloc		 = linux24_alloc,				\
	.kswapd		 = linux24_kswapd,				\
	.swap_io	 = linux24_buffer_attach,			\
	.swap_uncached	 = linux24_buffer_release

#endif
