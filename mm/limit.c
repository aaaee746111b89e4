/*
 * Limits of an address space: how much it may map, lock, and let a stack grow to. Linux's
 * RLIMIT_AS, RLIMIT_MEMLOCK and RLIMIT_STACK, but for the space instead of the process.
 */
#include "kernel/abi/errno.h"
#include "mm/vma.h"

/* A new mm's limits: its parent's, or none but for how far stacks grow. */
void limits_init(struct mm *mm, const struct mm *parent)
{
	for (unsigned i = 0; i < LIMIT_COUNT; i++)
		mm->limits[i] = parent ? parent->limits[i] :
				(struct abi_limit){ .soft = LIMIT_NONE, .hard = LIMIT_NONE };
	if (!parent)
		mm->limits[LIMIT_STACK].soft = STACK_BYTES_MAX;
}

/* May `mm` have `count` more pages mapped? -ENOMEM if LIMIT_AS says no. */
int limit_ask(const struct mm *mm, uint32_t count)
{
	uint32_t limit = mm->limits[LIMIT_AS].soft;

	if (limit == LIMIT_NONE || count == 0)
		return OK;
	return (uint64_t)mm->total_pages + count > limit >> PAGE_SHIFT ? -ENOMEM : OK;
}
