/*
 * The reverse mapping: from a page to all PTEs that map it. One header, one folder a
 * variant (mm/rmap/RMAP/), chosen by RMAP= at build time; each brings its
 * rmap_types.h with struct rmap_page, rmap_vma and rmap_mm. The build `scan` keeps none and
 * searches. RMAP_VERSION: docs/CHANGES.md.
 *
 * rmap.1  for every PTE that maps an anonymous page, rmap_try_to_unmap() and
 *         rmap_referenced() of the page reach it
 * rmap.2  what the map holds for a vma or mm goes when that goes and no page needs it
 *
 * "Anonymous page" here: private memory. Pages of objects are found through
 * object->vmas by the same code in every build (mm/rmap/object.c).
 */
#ifndef MM_RMAP_H
#define MM_RMAP_H

#include "mm/page.h"
#include "mm/vma.h"

#define RMAP_VERSION 2
extern const char rmap_name[];		/* "anon_vma", "anonmm", "scan" */

/* ---- Life of mms and vmas. mmap_lock of the mm held (the child's is nobody's yet). ---- */

/* A new mm: `parent` at fork, NULL at exec. -ENOMEM. Sleeps. */
int  rmap_mm_create(struct mm *mm, struct mm *parent);
/* All its pages are unmapped. */
void rmap_mm_destroy(struct mm *mm);

/* Before the first anonymous page of `v` is mapped. -ENOMEM. Sleeps; cheap when done. */
int  rmap_vma_prepare(struct vma *v);
/* `child` was copied from `parent` (fork). -ENOMEM. Sleeps. */
int  rmap_vma_fork(struct vma *child, struct vma *parent);
/* `back` was split off `front`: same pages, same map. Both page_table_lock and the
 * bounds are handled by the caller. Can't fail: memory was taken with the vma. */
void rmap_vma_split(struct vma *front, struct vma *back);
/* May `front` and `back`, touching, become one as far as this map is concerned? */
bool rmap_vma_can_merge(const struct vma *front, const struct vma *back);
/* `gone` is merged into `kept`: pages of both must be found through `kept`. */
void rmap_vma_merge(struct vma *kept, struct vma *gone);
/* `v` is going away; its pages are unmapped. */
void rmap_vma_unlink(struct vma *v);
/* `to`, on no list yet, takes over the pages of `from` from address `from_start` on (mremap):
 * sets its pgoff if pages need that. -ENOMEM. */
int  rmap_vma_move(struct vma *to, struct vma *from, vaddr_t from_start);
/* Around a change of start, end or pgoff (grow, split, merge): holds off walks. */
void rmap_vma_lock(struct vma *v);
void rmap_vma_unlock(struct vma *v);

/* ---- Pages. page_table_lock of the mm held. ---- */

/* The PTE at `addr` of `v` now maps `p`; mapcount was raised by the caller. Sets
 * mapping, index and PG_ANON the first time. rmap_vma_prepare() was called. */
void rmap_page_add(struct page *p, struct vma *v, vaddr_t addr);
/* fork copied a PTE. */
void rmap_page_dup(struct page *p, struct vma *child, vaddr_t addr);
/* The PTE is gone; mapcount was lowered. With the last one PG_ANON goes too. */
void rmap_page_remove(struct page *p, struct mm *mm, vaddr_t addr);
/* mremap moves the PTE. -EAGAIN: this page must be copied first (anonmm, shared page). */
int  rmap_page_move(struct page *p, struct vma *to, vaddr_t from_addr, vaddr_t to_addr);
/* May a page found in the swap cache be mapped at `addr` as it is? false: copy it. */
bool rmap_page_fits(struct page *p, struct vma *v, vaddr_t addr);

/* ---- Questions of reclaim. The page is locked by the caller; never sleep. ---- */

/* How many PTEs had their accessed bit set, plus PG_REFERENCED; all are cleared. A PTE of
 * a locked vma (mlock) counts whether it was set or not. */
unsigned rmap_referenced(struct page *p);

enum rmap_result {
	RMAP_UNMAPPED,		/* no PTE is left */
	RMAP_AGAIN,		/* a lock was busy: keep it, try later */
	RMAP_FAIL,		/* must stay: young, locked, or pinned */
};
/* Replace every PTE by the page's swap entry (swap cache pages; each takes a count of
 * the slot), or by nothing (object pages). Dirty bits go to the page. */
enum rmap_result rmap_try_to_unmap(struct page *p);

/* Used by the variants on each candidate: does the PTE of `addr` in `mm` map `p`?
 * page_table_lock is *tried*; `again` is set if that failed. `v` is the vma there, or NULL
 * if the variant doesn't know it: it is looked up once a PTE was found. */
struct rmap_walk {
	unsigned referenced;
	bool	 again, fail;
	bool	 tidy;			/* the variant may put its own house in order */
	unsigned left;			/* PTEs not found yet */
};
void rmap_one_referenced(struct page *p, struct mm *mm, struct vma *v, vaddr_t addr,
			 struct rmap_walk *w);
void rmap_one_unmap(struct page *p, struct mm *mm, struct vma *v, vaddr_t addr,
		    struct rmap_walk *w);

/* Call fn for each (vma, addr) that maps `p`; for the audit, the OOM report, ps. */
void rmap_for_each(struct page *p, void (*fn)(struct vma *v, vaddr_t addr, void *arg), void *arg);

/* ---- Figures and checks ---- */
uint32_t rmap_bytes(void);		/* memory that the map costs now */
uint32_t rmap_mapped_pages(void);	/* counted pages that some PTE maps */
uint32_t rmap_mapped_anon(void);	/* ... that are anonymous */
/* Check the map's own structures; prints violations, returns how many. */
unsigned rmap_check(void);

/* Map and unmap one PTE's worth of a page, in all builds: mapcount, rss, rmap, trace. */
void page_map_anon(struct page *p, struct vma *v, vaddr_t addr);
void page_map_object(struct page *p, struct vma *v, vaddr_t addr);
void page_unmap(struct page *p, struct mm *mm, vaddr_t addr);
/* The PTE becomes the page's swap entry, or 0 for an object's: for policies that walk PTEs. */
bool page_unmap_to_swap(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte);

#endif
