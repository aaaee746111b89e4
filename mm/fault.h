/* Page faults. */
#ifndef MM_FAULT_H
#define MM_FAULT_H

#include "kernel/types.h"

struct mm;
struct trap_frame;

enum fault_access { FAULT_READ = 0, FAULT_WRITE = 1 };

/*
 * Make `addr` usable in `mm` for the access, as its vma allows: demand zero (a read
 * maps the shared zero page), copy on write, swap-in, object page, stack growth.
 * Takes mmap_lock; sleeps. Returns
 *   0        done, or somebody else did it; try the access again
 *   -EFAULT  no vma, or it forbids the access          -> SIGSEGV
 *   -EIO     the page can't be read from disk          -> SIGBUS
 *   -ENOMEM  no memory, and the OOM killer chose nobody -> SIGKILL of the caller
 *   -EINTR   the caller was killed while it waited
 */
int mm_fault(struct mm *mm, vaddr_t addr, enum fault_access access);

/* From the trap: user faults, and kernel faults inside usercopy. `esp` bounds stack growth. */
void page_fault_trap(struct trap_frame *tf, vaddr_t addr);

extern struct page *zero_page;		/* one frame of zeros, never counted, never freed */

#endif
