/*
 * Address spaces: struct mm and its vmas.
 *
 * vma.1  start < end, both page aligned, within [USER_START, USER_END)
 * vma.2  the vmas of an mm don't overlap; list and tree hold the same ones, by start
 * vma.3  two neighbours that vma_can_merge() allows don't exist after an operation
 *        that could have merged them
 * vma.4  object != NULL => object_page is the object's page at `start`, and the vma is
 *        on object->vmas; an anonymous vma has object == NULL
 * vma.5  the reverse map finds an anonymous page where a PTE maps it: rmap_page_fits()
 * mm.1   total_pages is the sum of the vmas' sizes
 * mm.2   rss is the number of present PTEs to counted frames; swap_ptes that of swap
 *        entries
 * mm.3   locked_pages is the sum of the sizes of vmas with VMA_LOCKED
 *
 * The list and tree change with mmap_lock AND page_table_lock held; either suffices
 * to read them.
 */
#ifndef MM_VMA_H
#define MM_VMA_H

#include "kernel/abi/mman.h"
#include "kernel/abi/task.h"
#include "kernel/list.h"
#include "kernel/lock.h"
#include "kernel/types.h"
#include "kernel/usercopy.h"
#include "mm/pgtable.h"
#include "rmap_types.h"

struct object;
struct task;

enum vma_flag {
	VMA_READ = BIT(0), VMA_WRITE = BIT(1), VMA_EXEC = BIT(2),
	VMA_SHARED = BIT(3),
	VMA_GROWSDOWN = BIT(4),		/* a stack */
	VMA_LOCKED = BIT(5),		/* mlock */
	VMA_NORESERVE = BIT(6),
	VMA_HEAP = BIT(7),		/* made by brk; else as any anonymous vma */
	VMA_ACCOUNT = BIT(8),		/* its pages are counted in `committed` */
	VMA_MAY_WRITE = BIT(9),		/* mprotect may allow writing: private, or a shared
					 * object whose handle could be written through */
};
#define VMA_PROT (VMA_READ | VMA_WRITE | VMA_EXEC)

struct tree_node { struct tree_node *left, *right, *parent; uint32_t colour; };
struct tree { struct tree_node *root; };

struct vma {
	vaddr_t		 start, end;	/* [start, end) */
	uint32_t	 flags;		/* enum vma_flag */
	uint32_t	 pgoff;		/* linear page offset at start, for the reverse map */
	struct mm	*mm;
	struct object	*object;	/* NULL: anonymous */
	uint32_t	 object_page;	/* the object's page at start */
	struct list	 object_link;	/* object->vmas, RANK_OBJECT */
	struct list	 link;		/* mm->vmas, by address */
	struct tree_node node;		/* mm->vma_tree */
	struct rmap_vma	 rmap;		/* the reverse map's own */
};

enum { ROOM_CLASSES = 20 };	/* holes by size, in powers of two of pages */

struct mm {
	struct mutex	mmap_lock;	/* RANK_MMAP */
	struct spinlock page_table_lock;/* RANK_PAGE_TABLE */
	pte_t	       *pgdir;		/* kernel address of the page directory */
	struct list	vmas;
	struct tree	vma_tree;
	struct vma     *last_found;	/* cache of vma_find(); NULL or in the tree */
	uint32_t	vma_count;
	uint32_t	total_pages;	/* mmap_lock */
	uint32_t	rss, max_rss;	/* page_table_lock */
	uint32_t	swap_ptes;	/* page_table_lock */
	uint32_t	committed;	/* pages counted against overcommit */
	uint32_t	locked_pages;	/* mmap_lock  mm.3 */
	struct abi_limit limits[LIMIT_COUNT];	/* mmap_lock; of bytes */
	vaddr_t		heap_start, heap_end;	/* brk; mmap_lock */
	vaddr_t		room[ROOM_CLASSES];	/* mmap_lock  mm/room.c */
	struct task    *task;		/* whose it is; NULL under construction */
	struct list	all_link;	/* every mm, for swapoff and the audit */
	vaddr_t		swap_address;	/* where a policy that walks mms goes on (mm_walk()) */
	uint32_t	swap_left;	/* such a policy's: how much it wants of this one */
	uint32_t	pins;		/* swapoffs that work on it and sleep */
	bool		dying;		/* mm_destroy() waits for them */
	struct rmap_mm	rmap;		/* the reverse map's own */
};

extern struct list mm_all;		/* changes and walks never sleep in between */

/* An empty address space. NULL without memory. Sleeps. */
struct mm *mm_create(void);
/* A copy on write of `from` (its mmap_lock is taken): VMAs, PTEs, slots. NULL and
 * *error: -ENOMEM, or -EAGAIN when a slot's count would overflow. Sleeps. */
struct mm *mm_fork(struct mm *from, int *error);
/* Unmap everything and free it. No thread uses it any more. Sleeps (resched). */
void mm_destroy(struct mm *mm);

/* For mm_create() and mm_fork(): a mm without vmas; `parent` is NULL at exec. */
struct mm *mm_create_empty(struct mm *parent);
/* Keep an mm of mm_all from being freed while the caller sleeps; it may be dying. */
void mm_pin(struct mm *mm);
void mm_unpin(struct mm *mm);

struct vma *vma_search(struct mm *mm, vaddr_t addr);
/* The vma that holds `addr`, or else the first one above it; NULL if there is none.
 * mmap_lock or page_table_lock held. The last answer is tried first: faults come in runs. */
static inline struct vma *vma_find(struct mm *mm, vaddr_t addr)
{
	struct vma *v = mm->last_found;

	return v && addr >= v->start && addr < v->end ? v : vma_search(mm, addr);
}
/* The vma that holds `addr` or NULL. */
struct vma *vma_at(struct mm *mm, vaddr_t addr);

/*
 * mmap and its family. They take mmap_lock, sleep, and return 0, an address, or:
 * -EINVAL (length 0, not aligned, wraps, bad flags), -ENOMEM (no room, overcommit),
 * -EACCES, -EEXIST... as POSIX has it. `object` may be NULL (anonymous); a reference
 * is taken if it is mapped.
 */
struct map_request {
	vaddr_t	       addr;		/* a wish, or with MAP_FIXED the place */
	uint32_t       bytes;
	uint32_t       prot;		/* PROT_* */
	uint32_t       flags;		/* MAP_* */
	struct object *object;
	uint32_t       object_page;
	bool	       may_write;	/* MAP_SHARED of an object: could be written through */
};
int64_t mm_map(struct mm *mm, const struct map_request *r);	/* address or -errno */
int	mm_unmap(struct mm *mm, vaddr_t start, uint32_t bytes);
/* Set the end of the heap; returns the end as it is afterwards (unchanged on failure). */
vaddr_t mm_brk(struct mm *mm, vaddr_t end);
int	mm_advise(struct mm *mm, vaddr_t start, uint32_t bytes, int advice);
/* Have every page of [start, start + bytes) that is locked in memory, ready for what its vma
 * allows. -EFAULT (no access), -ENOMEM, -EIO, -EINTR. No lock held. Sleeps. */
int	mm_fill(struct mm *mm, vaddr_t start, vaddr_t end);
int	mm_lock(struct mm *mm, vaddr_t start, uint32_t bytes);
int	mm_unlock(struct mm *mm, vaddr_t start, uint32_t bytes);
int	mm_sync(struct mm *mm, vaddr_t start, uint32_t bytes, uint32_t flags);
int	mm_incore(struct mm *mm, vaddr_t start, uint32_t bytes, vaddr_t vec);
/* Give limit `which` the values of *want, if not NULL; *was gets what it was. */
int	mm_limit(struct mm *mm, unsigned which, const struct abi_limit *want,
		 struct abi_limit *was);
int	mm_protect(struct mm *mm, vaddr_t start, uint32_t bytes, uint32_t prot);
/* mremap: the address, or -errno; `to` counts with MREMAP_FIXED. */
int64_t mm_remap(struct mm *mm, vaddr_t start, uint32_t old_bytes, uint32_t new_bytes,
		 uint32_t flags, vaddr_t to);
/* Copy kernel-side into a space under construction: what exec's stack needs. */
int	mm_write(struct mm *mm, vaddr_t to, struct object *from, uint32_t offset, uint32_t bytes);

/* Split `v` at `at` (inside it, aligned): `v` keeps the front, the new vma is returned.
 * NULL without memory. mmap_lock held. Sleeps. */
struct vma *vma_split(struct vma *v, vaddr_t at);
/* Make borders at `start` and `end` where they lie inside vmas. -ENOMEM changes nothing. */
int vma_split_borders(struct mm *mm, vaddr_t start, vaddr_t end);
/* Split off what of `v` lies outside [start, end), which it holds; returns the vma of just
 * that. NULL without memory: nothing has changed. mmap_lock held. Sleeps. */
struct vma *vma_isolate(struct vma *v, vaddr_t start, vaddr_t end);
/* Merge `v` with what touches it, where allowed; returns the survivor. mmap_lock held. */
struct vma *vma_merge_around(struct vma *v);
bool vma_can_merge(const struct vma *front, const struct vma *back);

/* ---- Inside mm/: mmap_lock held ---- */
static inline uint32_t vma_pages(const struct vma *v)
{
	return (v->end - v->start) >> PAGE_SHIFT;
}
/* `e`, which maps a page in `v`, out of reach if v allows no access (pt.3). */
static inline pte_t vma_pte(const struct vma *v, pte_t e)
{
	return v->flags & VMA_PROT ? e : e & ~(pte_t)(PTE_PRESENT | PTE_WRITE);
}
enum { VMA_COUNT_MAX = 65536, STACK_BYTES_MAX = 8 << 20 };

struct vma *vma_next(const struct vma *v);	/* by address; NULL at the end */
struct vma *vma_prev(const struct vma *v);
/* A vma on no list, for [start, end). NULL without memory, or too many. Sleeps. */
struct vma *vma_create(struct mm *mm, vaddr_t start, vaddr_t end, uint32_t flags);
void vma_free(struct vma *v);			/* one that was never inserted */
/* Give it its object, with a reference; before vma_insert(). */
void vma_set_object(struct vma *v, struct object *o, uint32_t object_page);
void vma_insert(struct vma *v);
/* Its pages are unmapped. Off all lists, and freed. */
void vma_destroy(struct vma *v);
/* A stack grows down to `start`; a mapping grows up to `end`. Nothing is there. */
void vma_grow_down(struct vma *v, vaddr_t start);
void vma_grow_up(struct vma *v, vaddr_t end);
/* Other protection, locked or not, accounted or not. */
void vma_set_flags(struct vma *v, uint32_t flags);
/* Unmap all pages in [start, end) of `v`; the vma stays. Sleeps (resched). */
void vma_zap(struct vma *v, vaddr_t start, vaddr_t end);
/* Reclaim the pages that [start, end) of `v` maps, whatever their age. Sleeps. */
void vma_pageout(struct vma *v, vaddr_t start, vaddr_t end);
/* Begin to read what of [start, end) is in swap. Sleeps. */
void vma_willneed(struct vma *v, vaddr_t start, vaddr_t end);
/* mm_unmap() and mm_map() with mmap_lock held and the range checked. */
int	mm_unmap_locked(struct mm *mm, vaddr_t start, vaddr_t end);
/* fork: one PTE of the parent, not 0, for the child. mm/fork.c */
int	fork_copy_pte(struct vma *child, vaddr_t addr, pte_t *from, pte_t *to);
/* The same, but page tables stay: something else comes there. */
int	mm_clear_range(struct mm *mm, vaddr_t start, vaddr_t end);
/* Free the page tables that nothing needs any more now that [start, end) is empty. */
void	mm_trim_tables(struct mm *mm, vaddr_t start, vaddr_t end);
/* Where to map (mm/room.c). First fit from USER_MMAP_BASE up: the address, or 0 if there is no
 * room for `bytes`, whole pages. */
vaddr_t mm_find_room(struct mm *mm, uint32_t bytes);
/* Does [start, start + bytes) touch no vma, nor the room that a stack claims? */
bool	mm_range_free(struct mm *mm, vaddr_t start, uint32_t bytes);
/* The hole between two vmas, or NULL, becomes larger; or any may have. */
void	room_opens(struct mm *mm, const struct vma *before, const struct vma *after);
void	room_forget(struct mm *mm);
/* May more pages be mapped, and be promised, in exchange for what [start, end) holds? -ENOMEM. */
int	map_ask(struct mm *mm, vaddr_t start, vaddr_t end, uint32_t count, uint32_t promise);
/* May `count` more pages be locked? -EAGAIN: LIMIT_MEMLOCK says no; -ENOMEM: too much of RAM. */
int	limit_ask_lock(const struct mm *mm, uint32_t count);
/* How far may `v`, a stack, reach? */
uint32_t limit_stack_bytes(const struct vma *v);
/* A new mm's limits: its parent's, or the defaults. */
void	limits_init(struct mm *mm, const struct mm *parent);
/* May `count` more pages be mapped (LIMIT_AS)? -ENOMEM. */
int	limit_ask(const struct mm *mm, uint32_t count);
/* May a stack have more pages? Makes `v` reach down to `addr`, or -EFAULT, -ENOMEM. */
int	stack_grow(struct vma *v, vaddr_t addr, uint32_t esp);
/* Is [start, end) mapped without a hole? */
bool	mm_covered(struct mm *mm, vaddr_t start, vaddr_t end);
/* The lowest address that `v` may claim: a stack's room to grow is kept free. */
vaddr_t vma_claim(const struct vma *v);

/* Overcommit (overcommit=0|1|2): ask before promising pages. -ENOMEM. NULL: to an object. */
int  commit_ask(struct mm *mm, uint32_t page_count);
void commit_take(struct mm *mm, uint32_t page_count);	/* in exchange for others */
void commit_release(struct mm *mm, uint32_t page_count);
uint32_t commit_total(void);
bool commit_may_skip(void);		/* does MAP_NORESERVE count? */

unsigned mm_check(struct mm *mm);	/* vma.1-5, mm.1-3, pt.1-3 */

/* Red-black tree, intrusive; the caller finds the place. mm/tree.c */
void tree_insert(struct tree *t, struct tree_node *n, struct tree_node *parent, bool left);
void tree_remove(struct tree *t, struct tree_node *n);

#endif
