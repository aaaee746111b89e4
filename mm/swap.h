/*
 * Swap: areas, slots, the swap cache, reads and writes. SWAP_VERSION: docs/CHANGES.md.
 *
 * swap.1  slot 0 holds the header and is never given out; a bad slot's count is SLOT_BAD
 * swap.2  free + used + bad slots of an area = its size
 * swap.3  a slot's count = PTEs (and object entries) that hold it + 1 if its page is in
 *         the swap cache
 * swap.4  cache[slot] == p <=> p has PG_SWAPCACHE and private == that entry
 * swap.5  a slot in use lies inside its partition
 * swap.6  what is written to a slot is a page that is PG_UPTODATE
 */
#ifndef MM_SWAP_H
#define MM_SWAP_H

#include "kernel/abi/sysinfo.h"
#include "mm/page.h"
#include "mm/pgtable.h"

#define SWAP_VERSION 3
enum { SLOT_COUNT_MAX = 0xfffe, SLOT_BAD = 0xffff };

struct vma;
struct mm;

void swap_init(void);			/* find areas on all disks (swap=auto) and swapon them */
/* -ENODEV no such partition, -EINVAL not a swap area (the log says why), -EBUSY, -ENOMEM,
 * -EIO. priority -1: below all others. Sleep. */
int  swap_on(const char *name, int priority);
int  swap_off(const char *name);	/* -ENOMEM if the pages don't fit in RAM */
/* Instead of an OOM kill: a swapoff that is under way fails, and its area gives slots
 * again. False: there is none. Never sleeps. */
bool swap_off_call_off(void);
/* Was the swapoff of `area` called off? */
bool swap_off_called_off(unsigned area);

void swap_undo(void);			/* bring everything back in, if it fits well */

/* ---- Slots ---- RANK_SWAP inside; may be called under RANK_PAGE_TABLE. */
/* Take a slot, count 1, for the swap cache. false: none free (not even to steal). */
bool swap_slot_alloc(swap_entry *e);
/* Would it mostly succeed? */
bool swap_slot_to_be_had(void);
/* One more PTE or object entry. -EAGAIN: the count is at its limit. -EINVAL: not a slot in use. */
int  swap_dup(swap_entry e);
/* One less; the last one frees the slot, and the cache's page is left to reclaim. */
void swap_free(swap_entry e);
unsigned swap_count(swap_entry e);
uint32_t swap_slots_free(void);
uint32_t swap_slots_total(void);

/* ---- Swap cache ---- */
/* Give a locked anonymous page, or one that leaves its object, a slot and enter it. false:
 * no slot. */
bool swap_cache_add_new(struct page *p);
/* The page of `e` with a reference, or NULL. Counts find and success. */
struct page *swap_cache_find(swap_entry e);
/* A locked page leaves the cache; its slot loses the cache's count. */
void swap_cache_delete(struct page *p);
/* If only the caller and PTEs of one mapping use the locked page: leave the cache and
 * free the slot. True if done. */
bool swap_cache_try_free(struct page *p);
uint32_t swap_cached_pages(void);

/* ---- I/O ---- */
/* Start writing a locked page to its slot; PG_WRITEBACK until done; unlocks it. Never
 * allocates. The error, if any, is dealt with at the end of the write (slot retired). */
void swap_write(struct page *p);
/* The page of `e`: from the cache, or read from disk with its neighbours. Referenced,
 * maybe still locked for reading: page_lock(), then look at PG_UPTODATE. `v` and `addr` say
 * where it is wanted, v->mm's mmap_lock held; v == NULL: in an object.
 * NULL without memory. No spinlock, no page lock held; sleeps. *major = true if the disk was asked. */
struct page *swap_read(swap_entry e, struct vma *v, vaddr_t addr, bool *major);
/* Begin to read the page of `e` and its neighbours if they aren't in memory and there is memory to
 * spare: false if there is none. Doesn't wait for the read. */
bool swap_read_ahead(swap_entry e);
/* When no slot is free: take one from a page that is in memory (swap.steal=1). */
bool swap_steal_slot(swap_entry *e);

/* Steps of swapoff inside one mm: replace entries of `area` by pages. mm/fault.c */
int  mm_unuse(struct mm *mm, unsigned area);

unsigned swap_rows(struct abi_swap_row *rows, unsigned max);
unsigned swap_check(void);

#endif
