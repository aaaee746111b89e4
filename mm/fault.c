/*
 * Page faults: from the trap to a PTE that allows the access.
 *
 *   page_fault_trap --> mm_fault --> nothing there: zero page, zeroed page, object's page
 *                                    read-only PTE:  fault_write_protected  (cow.c)
 *                                    swap entry:     fault_swapped          (swapin.c)
 *
 * mmap_lock is held from the look-up of the vma to the end. The PTE is read under the
 * page_table_lock, which is dropped for every sleep; fault_lock_pte() then looks again,
 * because reclaim takes pages away meanwhile.
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "kernel/trap.h"
#include "mm/fault_steps.h"
#include "mm/lru.h"
#include "mm/object.h"
#include "mm/oom.h"
#include "mm/rmap.h"

enum trap_error { ERROR_PRESENT = 1, ERROR_WRITE = 2, ERROR_USER = 4 };

struct page *zero_page;

/* ---- Shared by the steps ---- */

int fault_no_memory(void)
{
	return current->killed ? -EINTR : -ENOMEM;
}

void fault_count_major(void)
{
	struct task *t = current_task();

	COUNT(pgmajfault);
	if (t) {
		t->major_faults++;
		t->swapped_in++;
	}
}

/* ---- Nothing there ---- */

/* A read of untouched memory: everybody's page of zeros, not counted, read-only. */
static int map_zero_page(struct fault *f)
{
	pte_t *pte = fault_lock_pte(f);

	if (!pte)
		return OK;
	*pte = pte_make(page_pfn(zero_page), PTE_PRESENT | PTE_USER | PTE_ACCESSED);
	fault_unlock_pte(f);
	COUNT(zero_page_map);
	fault_done(f, zero_page);
	return OK;
}

/* Map `p`, new and filled, where nothing was; drop it if somebody was faster. */
static ALWAYS_INLINE int map_new_page(struct fault *f, struct page *p)
{
	pte_t *pte = fault_lock_pte(f);

	page_set(p, PG_UPTODATE);
	if (!pte) {
		page_drop(p);
		return OK;
	}
	fault_map_anon(f, pte, p, PTE_WRITE | PTE_DIRTY);
	fault_unlock_pte(f);
	lru_insert(p, lru_rules.fresh);
	fault_done(f, p);
	return OK;
}

/*
 * A write to untouched anonymous memory: map a fresh page of zeros, writable and dirty, if
 * nobody was faster. The vma is made ready for the reverse map before. Returns OK, or
 * fault_no_memory(). mmap_lock held, no spinlock. Sleeps. (Always inline: it has a budget.)
 */
ALWAYS_INLINE int fault_fill_zero(struct fault *f)
{
	struct page *p;

	if (rmap_vma_prepare(f->vma) < 0)
		return fault_no_memory();
	p = page_alloc(GFP_USER | GFP_ZERO, 0);
	if (!p)
		return fault_no_memory();
	TRACE(ZERO_FILL, page_pfn(p), fault_pid(f), f->addr);
	COUNT(zero_fill);
	return map_new_page(f, p);
}

/* Map the page of an object, of which the caller's reference goes into the PTE. Private
 * mappings are read-only, whatever the vma allows: the first write copies. */
static int map_object_page(struct fault *f, struct page *p)
{
	bool shared_write = (f->vma->flags & VMA_SHARED) && (f->vma->flags & VMA_WRITE);
	uint32_t bits = PTE_PRESENT | PTE_USER | PTE_ACCESSED;
	pte_t *pte = fault_lock_pte(f);

	if (!pte) {
		page_drop(p);
		return OK;
	}
	if (shared_write)
		bits |= PTE_WRITE | (f->access == FAULT_WRITE ? PTE_DIRTY : 0);
	*pte = pte_make(page_pfn(p), bits);
	page_map_object(p, f->vma, f->addr);
	fault_unlock_pte(f);
	fault_done(f, p);
	return OK;
}

/* A write to an object's page that a private mapping has not touched yet: an anonymous copy
 * at once, without mapping the object's page in between. */
static int copy_object_page(struct fault *f, struct page *from)
{
	struct page *p = NULL;

	if (rmap_vma_prepare(f->vma) == OK)
		p = page_alloc(GFP_USER, 0);
	if (!p) {
		page_drop(from);
		return fault_no_memory();
	}
	page_copy(page_address(p), page_address(from));
	TRACE(COW, page_pfn(from), page_pfn(p), f->addr);
	page_drop(from);
	COUNT(cow_copy);
	return map_new_page(f, p);
}

static int fault_object(struct fault *f)
{
	struct vma *v = f->vma;
	uint32_t index = v->object_page + ((f->addr - v->start) >> PAGE_SHIFT);
	bool major = false;
	struct page *p;
	int error;

	p = object_fault_page(v->object, index, &major, &error);
	if (major)
		fault_count_major();
	if (!p)
		return error == -ENOMEM ? fault_no_memory() : error;
	if (f->access == FAULT_WRITE && !(v->flags & VMA_SHARED))
		return copy_object_page(f, p);
	return map_object_page(f, p);
}

/* ---- Which fault is it? ---- */

/* The vma for an access at `addr`, grown down to it if it is a stack; NULL and *error. If it
 * is locked, what it grew by, up to *fill_end, must be filled. */
static struct vma *fault_vma(struct mm *mm, vaddr_t addr, enum fault_access access,
			     uint32_t esp, vaddr_t *fill_end, int *error)
{
	struct vma *v = vma_find(mm, addr);
	vaddr_t start;

	*error = -EFAULT;
	if (!v || addr < USER_START)
		return NULL;
	if (!(v->flags & (access == FAULT_WRITE ? VMA_WRITE : VMA_PROT)))
		return NULL;
	if (addr < v->start) {
		start = v->start;
		*error = stack_grow(v, addr, esp);
		if (*error)
			return NULL;
		if (v->flags & VMA_LOCKED)
			*fill_end = start;
	}
	return v;
}

/* What the PTE is now decides. It is one word and is looked at again under its lock. */
static int fault_by_pte(struct fault *f)
{
	f->seen = *f->pte;
	if (pte_present(f->seen)) {
		if (f->access == FAULT_WRITE && !(f->seen & PTE_WRITE))
			return fault_write_protected(f);
		tlb_flush_page(f->mm, f->addr);	/* somebody was faster */
		return OK;
	}
	if (f->seen)
		return fault_swapped(f);
	if (f->vma->object)
		return fault_object(f);
	return f->access == FAULT_WRITE ? fault_fill_zero(f) : map_zero_page(f);
}

/* mm_fault() with the stack pointer, which bounds stack growth; 0: no bound. */
static int fault_with_esp(struct mm *mm, vaddr_t addr, enum fault_access access, uint32_t esp)
{
	vaddr_t fill_end = 0;
	struct fault f;
	int error;

	f.mm = mm;			/* (an initialiser would clear all first) */
	f.addr = PAGE_DOWN(addr);
	f.access = access;
	mutex_lock(&mm->mmap_lock);
	f.vma = fault_vma(mm, addr, access, esp, &fill_end, &error);
	if (f.vma) {
		f.pte = pte_look_up(mm->pgdir, addr);
		if (!f.pte)
			f.pte = pte_prepare(mm, addr);
		error = f.pte ? fault_by_pte(&f) : fault_no_memory();
	}
	mutex_unlock(&mm->mmap_lock);
	if (fill_end)
		(void)mm_fill(mm, f.addr, fill_end);
	return error;
}

/* Make `addr` usable: see mm/fault.h. Takes mmap_lock; sleeps. */
int mm_fault(struct mm *mm, vaddr_t addr, enum fault_access access)
{
	return fault_with_esp(mm, addr, access, 0);
}

/* ---- The trap ---- */

/* Why an access at `addr` can't be. Memory out of reach (PROT_NONE) looks unmapped to the CPU. */
static const char *why_not(struct mm *mm, vaddr_t addr)
{
	bool mapped;

	mutex_lock(&mm->mmap_lock);
	mapped = vma_at(mm, addr) != NULL;
	mutex_unlock(&mm->mmap_lock);
	return mapped || addr >= USER_END ? "access not allowed" : "nothing is mapped there";
}

/* The access of a user thread can't be: a signal, or the end of the task. */
static void fail_user(struct trap_frame *tf, vaddr_t addr, int error)
{
	struct task *t = current_task();

	if (error == -EINTR)
		return;			/* it dies on its way out */
	if (error == -ENOMEM) {
		oom_kill_faulter(t, addr);
	} else if (error == -EIO) {
		task_exception(tf, ABI_SIGBUS, addr, "page can't be read from disk");
	} else {
		task_exception(tf, ABI_SIGSEGV, addr, why_not(t->mm, addr));
	}
}

/* A fault of the kernel itself, outside of copies: the end. */
static NORETURN void kernel_fault(struct trap_frame *tf, vaddr_t addr)
{
	const char *stack = kstack_guard_hit(addr);

	if (stack)
		panic_trap(tf, "kernel stack overflow: %s", stack);
	panic_trap(tf, "page fault at %#x: %s, %s", addr,
		   tf->error & ERROR_WRITE ? "write" : "read",
		   tf->error & ERROR_PRESENT ? "protection" : "not mapped");
}

/* See mm/fault.h. `addr` was read from cr2 before interrupts could come. */
void page_fault_trap(struct trap_frame *tf, vaddr_t addr)
{
	enum fault_access access = tf->error & ERROR_WRITE ? FAULT_WRITE : FAULT_READ;
	const struct trap_frame *user = tf;
	struct task *t = current->task;
	int error = -EFAULT;
	uint32_t fixup = 0;

	if (!trap_from_user(tf)) {
		fixup = usercopy_try_fixup(tf->eip);
		if (fixup) {
			tf->eip = fixup;
			return;
		}
		fixup = usercopy_fixup(tf->eip);
		if (!fixup || !t)
			kernel_fault(tf, addr);
		user = current_trap_frame();
	}
	COUNT(pgfault);
	t->faults++;
	TRACE(FAULT, t->pid, addr, (tf->error & ERROR_WRITE) >> 1 |
	      (tf->error & ERROR_USER) >> 1 | (tf->error & ERROR_PRESENT) << 2);
	if (addr < USER_END)
		error = fault_with_esp(t->mm, addr, access, user->esp);
	if (!error)
		return;
	if (fixup)
		tf->eip = fixup;
	else
		fail_user(tf, addr, error);
}
