/*
 * swap.window=pattern: read ahead where the faults are going.
 *
 * What a program did last stands in its page table: behind a sweep pages are mapped, before it
 * they are in swap. So the longer run of mapped pages beside a fault tells the direction, and
 * its length how much the sweep deserves: twice as many pages, from swap.readahead to a
 * share of RAM. Nothing is remembered, so that any number of sweeps, up or down, in one
 * array or in many, are told apart; a fault with nothing around it reads little.
 *
 * A window is read when its first page is faulted on, and again, while its pages are used up,
 * when less than half a window is left ahead (pattern_read_on()): then the program runs while
 * the disk reads.
 */
#include "kernel/counters.h"
#include "mm/swap/area.h"
#include "mm/swap/pattern.h"
#include "mm/vma.h"

enum {
	RUN_SWEEP = 16,			/* mapped pages in a row that make a sweep  */
	LOOK_PAGES = 16,		/* how often a sweep looks ahead            */
	WINDOW_SHARE = 64,		/* of RAM                                   */
};

/* Which way a sweep goes, and how many pages are to be read. */
struct pattern {
	int32_t	 step;			/* PAGE_SIZE or -PAGE_SIZE */
	uint32_t run, pages;
};

static uint32_t window_most(void)
{
	return CLAMP(frames_total() / WINDOW_SHARE, swap_rules.readahead, (uint32_t)PATTERN_MAX);
}

/* The PTE of `addr` if that lies in `v`; 0: outside, or no table. mmap_lock held. */
static pte_t peek(struct vma *v, vaddr_t addr)
{
	pte_t *pte = addr >= v->start && addr < v->end ? pte_find(v->mm, addr) : NULL;

	return pte ? *pte : 0;
}

/* Pages mapped in a row beside `addr`, at most `most`. */
static uint32_t mapped_run(struct vma *v, vaddr_t addr, int32_t step, uint32_t most)
{
	pte_t *pte = NULL;
	uint32_t n = 0;

	for (addr += (uint32_t)step; n < most && addr >= v->start && addr < v->end;
	     addr += (uint32_t)step, n++) {
		if (!pte || pgtable_next(addr) != pgtable_next(addr - (uint32_t)step))
			pte = pte_find(v->mm, addr);
		else
			pte += step / (int32_t)PAGE_SIZE;
		if (!pte || !pte_present(*pte))
			break;
	}
	return n;
}

/* Is what the PTE says a page that is in swap, and nowhere in memory? */
static bool is_out(pte_t pte)
{
	return pte_is_swap(pte) && swap_worth_reading(pte_swap_entry(pte));
}

static struct pattern pattern_at(struct vma *v, vaddr_t addr)
{
	uint32_t most = window_most();
	uint32_t below = mapped_run(v, addr, -(int32_t)PAGE_SIZE, most / 2);
	uint32_t above = mapped_run(v, addr, PAGE_SIZE, most / 2);
	struct pattern p = { .run = MAX(below, above) };

	p.step = below >= above ? (int32_t)PAGE_SIZE : -(int32_t)PAGE_SIZE;
	p.pages = CLAMP(2 * p.run, swap_rules.readahead, most);
	return p;
}

/* Put pages for the swap entries among `count` PTEs from `addr` on, in steps of `step`, into
 * the cache and batch[n...]; ends at the first that there is no memory for. */
static unsigned gather_from(struct vma *v, vaddr_t addr, int32_t step, uint32_t count,
			    struct page **batch, unsigned n)
{
	for (; count > 0; count--, addr += (uint32_t)step) {
		pte_t pte = peek(v, addr);
		struct page *p;

		if (!is_out(pte))
			continue;
		p = swap_new_cached_page(pte_swap_entry(pte), GFP_SPARE);
		if (!p)
			break;
		COUNT(swap_readahead);
		batch[n++] = p;
	}
	return n;
}

/*
 * `wanted`, locked and in the cache, is to be read for a fault at `addr` of `v`: put it and what
 * the pattern of faults asks for into batch[PATTERN_MAX]. Returns how many. mmap_lock held;
 * doesn't reclaim; never sleeps.
 */
unsigned pattern_gather(struct vma *v, vaddr_t addr, struct page *wanted, struct page **batch)
{
	struct pattern p = pattern_at(v, addr);

	batch[0] = wanted;
	return gather_from(v, addr + (uint32_t)p.step, p.step, p.pages - 1, batch, 1);
}

/*
 * A page at `addr` of `v` was found in the cache: if it belongs to a sweep that has less than
 * half a window left, put what comes behind that into batch[PATTERN_MAX]. Returns how many.
 * mmap_lock held; doesn't reclaim; never sleeps.
 */
unsigned pattern_read_on(struct vma *v, vaddr_t addr, struct page **batch)
{
	uint32_t ahead = 1;
	struct pattern p;

	if ((addr >> PAGE_SHIFT) % LOOK_PAGES != 0)
		return 0;
	p = pattern_at(v, addr);
	if (p.run < RUN_SWEEP || !is_out(peek(v, addr + (uint32_t)p.step * (p.pages / 2))))
		return 0;
	while (ahead < p.pages / 2 && !is_out(peek(v, addr + (uint32_t)p.step * ahead)))
		ahead++;
	return gather_from(v, addr + (uint32_t)p.step * ahead, p.step, p.pages - ahead + 1, batch, 0);
}
