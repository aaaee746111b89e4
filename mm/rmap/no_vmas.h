/*
 * Vmas' part of a reverse map (mm/rmap.h) whose pages don't know vmas: nothing is to be done, and
 * all may merge. Included once, by the one file of such a map.
 */
#ifndef MM_RMAP_NO_VMAS_H
#define MM_RMAP_NO_VMAS_H

#include "mm/rmap.h"

int rmap_vma_prepare(struct vma *v)
{
	(void)v;
	return 0;
}

int rmap_vma_fork(struct vma *child, struct vma *parent)
{
	(void)child;
	(void)parent;
	return 0;
}

void rmap_vma_split(struct vma *front, struct vma *back)
{
	(void)front;
	(void)back;
}

bool rmap_vma_can_merge(const struct vma *front, const struct vma *back)
{
	(void)front;
	(void)back;
	return true;
}

void rmap_vma_merge(struct vma *kept, struct vma *gone)
{
	(void)kept;
	(void)gone;
}

void rmap_vma_unlink(struct vma *v)
{
	(void)v;
}

int rmap_vma_move(struct vma *to, struct vma *from, vaddr_t from_start)
{
	(void)to;
	(void)from;
	(void)from_start;
	return 0;
}

void rmap_vma_lock(struct vma *v)
{
	(void)v;
}

void rmap_vma_unlock(struct vma *v)
{
	(void)v;
}

#endif
