/* Inside mm/rmap/anonmm/: what anonmm.c keeps and break.c breaks. */
#ifndef MM_RMAP_ANONMM_H
#define MM_RMAP_ANONMM_H

#include "mm/vma.h"

/*
 * One mm, as pages know it. It may outlive the mm. All fields change under the family's
 * lock: that of `head`.
 */
struct anonmm {
	uint32_t	 count;		/* rmap.5: mm, pages; head: itself and the others, too */
	struct spinlock	 lock;		/* RANK_FAMILY; used in the head only */
	struct mm	*mm;		/* NULL: it died, but pages still point here */
	struct anonmm	*head;		/* what exec made; constant */
	struct list	 ring;		/* all members of the family; oldest first from the head */
};

/* An anonmm for `mm`, a family of its own, with one reference. NULL without memory. Sleeps. */
struct anonmm *anonmm_create(struct mm *mm);
/* Put it at the end of head's ring. */
void anonmm_join(struct anonmm *a, struct anonmm *head);

#endif
