/*
 * Where there is room for a new mapping: the first hole from USER_MMAP_BASE up that is large
 * enough.
 *
 * A hole is what lies between the end of one vma and what the next one claims. To walk over
 * all vmas for each mapping would take n^2 steps for n of them; so an mm remembers for each
 * class k, holes of 2^k pages and more, an address below which no such hole begins. A search
 * starts there and remembers how far it came. A hole begins or becomes larger only where a vma
 * goes, or a stack claims less: as its upper end rises, or a vma comes below it. room_opens()
 * is told.
 *
 * room.1  no hole of 2^k pages or more begins in [USER_MMAP_BASE, room[k])
 * room.2  room[k] <= room[k + 1]
 */
#include "mm/vma.h"

/* The lowest address that `v` claims: a stack keeps the room into which it may grow. */
vaddr_t vma_claim(const struct vma *v)
{
	uint32_t most = MIN((uint32_t)STACK_BYTES_MAX, limit_stack_bytes(v));

	if (!(v->flags & VMA_GROWSDOWN) || v->end - v->start >= most)
		return v->start;
	return v->end - USER_START > most ? v->end - most : USER_START;
}

/* Does [start, start + bytes) touch no vma, nor the room that a stack claims? mmap_lock held. */
bool mm_range_free(struct mm *mm, vaddr_t start, uint32_t bytes)
{
	struct vma *v = vma_find(mm, start);

	return !v || (vma_claim(v) >= start && vma_claim(v) - start >= bytes);
}

/* The class of a hole of `bytes`, and the one in which a hole for as many is sought: 2^class is the
 * largest power of two that is no more than its pages. */
static unsigned room_class(uint32_t bytes)
{
	return 31 - (unsigned)__builtin_clz(bytes >> PAGE_SHIFT | 1);
}

/* How much of [from, ...) is free before `next`, the first vma that ends above it; NULL: there
 * is none. */
static uint32_t hole_bytes(vaddr_t from, const struct vma *next)
{
	vaddr_t end = next ? vma_claim(next) : USER_END;

	return end > from ? end - from : 0;
}

/*
 * The first fit from USER_MMAP_BASE up for `bytes`, whole pages: returns the address, or 0 if there
 * is no room. What stacks claim is no room. Where the search for holes of this size may begin is
 * kept in mm->room[]. mmap_lock held; never sleeps.
 */
vaddr_t mm_find_room(struct mm *mm, uint32_t bytes)
{
	unsigned k = room_class(bytes);
	vaddr_t from = mm->room[k], first_of_class = 0, passed;
	struct vma *v = vma_find(mm, from);
	uint32_t hole;

	while ((hole = hole_bytes(from, v)) < bytes) {
		if (!first_of_class && hole >> PAGE_SHIFT >> k != 0)
			first_of_class = from;
		if (!v)
			break;
		from = MAX(from, v->end);
		v = vma_next(v);
	}
	passed = first_of_class ? first_of_class : from;
	for (; k < ROOM_CLASSES && mm->room[k] < passed; k++)
		mm->room[k] = passed;		/* what is no hole of this class is none of the next */
	return hole >= bytes ? from : 0;
}

/* There is a new or larger hole between `before` and `after`, either of which may be NULL: the
 * vma in between is about to go, or `after` is a stack and claims less. mmap_lock held. */
void room_opens(struct mm *mm, const struct vma *before, const struct vma *after)
{
	vaddr_t start = MAX(USER_MMAP_BASE, before ? before->end : USER_START);
	unsigned k = room_class(hole_bytes(start, after));

	while (mm->room[k] > start) {
		mm->room[k] = start;
		if (k-- == 0)
			break;
	}
}

/* Begin anew: what stacks claim has changed. */
void room_forget(struct mm *mm)
{
	for (unsigned k = 0; k < ROOM_CLASSES; k++)
		mm->room[k] = USER_MMAP_BASE;
}
