/*
 * Limits of an address space: how much it may map, lock, and let a stack grow to. Linux's
 * RLIMIT_AS, RLIMIT_MEMLOCK and RLIMIT_STACK, but for the space instead of the process.
 * fork's child has its parent's, a new program its predecessor's.
 *
 * Whatever LIMIT_MEMLOCK allows, all mms together lock no more than LOCKED_SHARE_PERCENT of RAM:
 * reclaim needs pages that it may take.
 */
#include "kernel/abi/errno.h"
#include "mm/frame.h"
#include "mm/vma.h"

enum { LOCKED_SHARE_PERCENT = 75 };

/* A new mm's limits: its parent's, or none but for how far stacks grow. */
void limits_init(struct mm *mm, const struct mm *parent)
{
	for (unsigned i = 0; i < LIMIT_COUNT; i++)
		mm->limits[i] = parent ? parent->limits[i] :
				(struct abi_limit){ .soft = LIMIT_NONE, .hard = LIMIT_NONE };
	if (!parent)
		mm->limits[LIMIT_STACK].soft = STACK_BYTES_MAX;
	room_forget(mm);
}

/* Would `used` pages and `count` more be beyond soft limit `which`? */
static bool beyond(const struct mm *mm, unsigned which, uint32_t used, uint32_t count)
{
	uint32_t limit = mm->limits[which].soft;

	return limit != LIMIT_NONE && count > 0 && used + count > limit >> PAGE_SHIFT;
}

/* May `mm` have `count` more pages mapped? -ENOMEM if LIMIT_AS says no. */
int limit_ask(const struct mm *mm, uint32_t count)
{
	return beyond(mm, LIMIT_AS, mm->total_pages, count) ? -ENOMEM : OK;
}

/* May `mm` have `count` more pages locked? -EAGAIN if LIMIT_MEMLOCK says no, -ENOMEM if that would
 * leave too little of RAM to the others. */
int limit_ask_lock(const struct mm *mm, uint32_t count)
{
	uint32_t most = frames_total() / 100 * LOCKED_SHARE_PERCENT, all = 0;
	const struct mm *m;

	if (beyond(mm, LIMIT_MEMLOCK, mm->locked_pages, count))
		return -EAGAIN;
	list_for_each(m, &mm_all, all_link)
		all += m->locked_pages;
	return count > most || all > most - count ? -ENOMEM : OK;
}

/* How far may `v`, a stack, reach? */
uint32_t limit_stack_bytes(const struct vma *v)
{
	return v->mm->limits[LIMIT_STACK].soft & PAGE_MASK;
}

/*
 * Limit `which` gets the values of *want, unless that is NULL, and *was what it had. 0, -EINVAL
 * (no such limit, soft above hard) or -EPERM (hard above what it was; Linux lets root do that).
 * What is mapped or locked already stays. Takes mmap_lock; sleeps.
 */
int mm_limit(struct mm *mm, unsigned which, const struct abi_limit *want, struct abi_limit *was)
{
	int error = OK;

	if (which >= LIMIT_COUNT || (want && want->soft > want->hard))
		return -EINVAL;
	mutex_lock(&mm->mmap_lock);
	*was = mm->limits[which];
	if (want && want->hard > was->hard)
		error = -EPERM;
	else if (want)
		mm->limits[which] = *want;
	room_forget(mm);
	mutex_unlock(&mm->mmap_lock);
	return error;
}
