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

static pte_t shared_half[1024];
pte_t *kernel_pgdir = shared_half;
struct boot_info boot;

void tlb_flush_page(struct mm *mm, vaddr_t addr) { (void)mm; (void)addr; }
void tlb_flush_mm(struct mm *mm) { (void)mm; }
void pgtable_leave(struct mm *mm) { (void)mm; }
struct task *current_task(void) { return NULL; }
void task_kill(struct task *t, int32_t status) { (void)t; (void)status; }
void task_exception(struct trap_frame *tf, int s, vaddr_t a, const char *w)
{ (void)tf; (void)s; (void)a; (void)w; }
struct trap_frame *current_trap_frame(void) { return NULL; }
uint32_t usercopy_fixup(uint32_t eip) { (void)eip; return 0; }
uint32_t usercopy_try_fixup(uint32_t eip) { (void)eip; return 0; }
const char *kstack_guard_hit(vaddr_t addr) { (void)addr; return NULL; }
void panic_trap(const struct trap_frame *tf, const char *fmt, ...)
{ (void)tf; panic("trap: %s", fmt); }
int copy_from_user(void *to, vaddr_t from, size_t n) { (void)to; (void)from; (void)n; return -EFAULT; }

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
