/*
 * Host tests have no traps, no user memory to read from, and no task that runs: what mm/ calls of
 * those parts. Included by one file of a program.
 */
#ifndef NO_TRAPS_H
#define NO_TRAPS_H

#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "kernel/trap.h"

struct task *current_task(void) { return NULL; }
void task_exception(struct trap_frame *tf, int s, vaddr_t a, const char *w)
{ (void)tf; (void)s; (void)a; (void)w; }
struct trap_frame *current_trap_frame(void) { return NULL; }
uint32_t usercopy_fixup(uint32_t eip) { (void)eip; return 0; }
uint32_t usercopy_try_fixup(uint32_t eip) { (void)eip; return 0; }
const char *kstack_guard_hit(vaddr_t addr) { (void)addr; return NULL; }
void panic_trap(const struct trap_frame *tf, const char *fmt, ...)
{ (void)tf; panic("trap: %s", fmt); }
int copy_from_user(void *to, vaddr_t from, size_t n) { (void)to; (void)from; (void)n; return -EFAULT; }

#endif
