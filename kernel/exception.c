/*
 * Exceptions of user programs. The kernel doesn't know what a signal means: it calls proc
 * on the faulting thread's behalf, and proc answers or kills. The thread waits in an
 * ordinary call meanwhile, so all that ends calls (a kill, proc's death) ends this one.
 */
#include "kernel/abi/errno.h"
#include "kernel/ipc.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trap.h"

/* Tell proc of an exception: `signal` (newlib's number), the address concerned, and a few
 * words for the log. Returns when the thread may go on; if it was killed, it dies on its
 * way to user mode. An exception of proc itself is the end: panic. From user mode only; sleeps. */
void task_exception(struct trap_frame *tf, int signal, vaddr_t addr, const char *why)
{
	struct task *t = current->task;
	uint32_t word[IPC_WORDS] = { (uint32_t)signal, addr, tf->eip, tf->vector };
	int reply;

	printk("%s (pid %d): signal %d, address 0x%08x, eip 0x%08x: %s\n", t->name,
	       (int)t->pid, signal, addr, tf->eip, why);
	if (t->flags & TASK_PROC)
		panic_trap(tf, "proc died: %s, address 0x%08x", why, addr);
	reply = ipc_call_kernel(proc_endpoint, IPC_LABEL_EXCEPTION, word);
	if (reply != 0)
		task_kill(t, TASK_STATUS_SIGNAL(signal));
}
