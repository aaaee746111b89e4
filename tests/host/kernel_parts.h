/*
 * What mm/ calls of the rest of the kernel and host tests of address spaces do without: no
 * user memory, no tasks, no TLB, no swapoff. Included by one program once.
 */
#ifndef KERNEL_PARTS_H
#define KERNEL_PARTS_H

#include "kernel/abi/errno.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "kernel/trap.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "mm/vma.h"
#include "no_traps.h"

static pte_t shared_half[1024];
pte_t *kernel_pgdir = shared_half;
struct boot_info boot;

void tlb_flush_page(struct mm *mm, vaddr_t addr) { (void)mm; (void)addr; }
void tlb_flush_mm(struct mm *mm) { (void)mm; }
void pgtable_leave(struct mm *mm) { (void)mm; }
void task_kill(struct task *t, int32_t status) { (void)t; (void)status; }
void oom_kill_faulter(struct task *t, vaddr_t addr) { (void)addr; task_kill(t, 0); }

/* All the user memory there is to write to: addresses 0 to 4095. */
static unsigned char user_window[PAGE_SIZE];
int copy_to_user(vaddr_t to, const void *from, size_t n)
{
	if (to > sizeof(user_window) || n > sizeof(user_window) - to)
		return -EFAULT;
	__builtin_memcpy(user_window + to, from, n);
	return OK;
}

__attribute__((weak)) void reclaim_isolated(struct list *batch) { (void)batch; }
__attribute__((weak)) bool swap_read_ahead(swap_entry e) { (void)e; return false; }
__attribute__((weak)) bool swap_off_called_off(unsigned area) { (void)area; return false; }

#endif
