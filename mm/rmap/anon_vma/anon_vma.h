/* Inside mm/rmap/anon_vma/: what anon_vma.c keeps and break.c breaks. */
#ifndef MM_RMAP_ANON_VMA_H
#define MM_RMAP_ANON_VMA_H

#include "kernel/list.h"
#include "kernel/lock.h"

struct anon_vma {
	struct spinlock lock;		/* RANK_RMAP */
	struct list	vmas;		/* lock  vma->rmap.link */
	struct list	link;		/* all_anon_vmas, for the audit */
};

/* One without vmas; the caller puts one on its list at once. NULL without memory. Sleeps. */
struct anon_vma *anon_vma_create(void);

#endif
