/*
 * The FPU, lazily. CR0.TS makes the first use after a switch trap; fpu_trap() then
 * saves the owner's state into its own memory and loads the new user's.
 *
 * fpu.1  fpu_user != NULL <=> CR0.TS is clear; then fpu_user == fpu_owner
 * fpu.2  the state of a thread is in the CPU if it is fpu_owner, else in thread.fpu
 *
 * FNSAVE's image takes 108 bytes, FXSAVE's 512 that must lie on a multiple of 16.
 * The kernel itself never uses the FPU, so nothing is saved on entry. Interrupts are
 * off wherever owner and CPU are changed together.
 */
#include "kernel/abi/task.h"
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/cpu.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trap.h"
#include "mm/slab.h"

enum {
	CR0_MP = 1 << 1, CR0_EM = 1 << 2, CR0_TS = 1 << 3, CR0_NE = 1 << 5,
	FNSAVE_BYTES = 108, FXSAVE_BYTES = 512, FXSAVE_ALIGN = 16,
	MXCSR_AFTER_RESET = 0x1f80,
};

struct fnsave_state { uint8_t bytes[FNSAVE_BYTES]; };
struct fxsave_state { uint8_t bytes[FXSAVE_BYTES + FXSAVE_ALIGN - 1]; };
SLAB_CACHE(fnsave_cache, "fpu", struct fnsave_state);
SLAB_CACHE(fxsave_cache, "fpu-sse", struct fxsave_state);

struct thread *fpu_user;
static struct thread *fpu_owner;	/* whose state the FPU holds; NULL: nobody's */

static uint32_t cr0_read(void)
{
	uint32_t v;

	__asm__ volatile("movl %%cr0, %0" : "=r"(v));
	return v;
}

static void cr0_write(uint32_t v)
{
	__asm__ volatile("movl %0, %%cr0" : : "r"(v));
}

static struct slab_cache *state_cache(void)
{
	return cpu_has(CPU_FXSR) ? &fxsave_cache : &fnsave_cache;
}

/* The aligned image inside an object of fxsave_cache. */
static void *fxsave_image(void *state)
{
	return (void *)(((uintptr_t)state + FXSAVE_ALIGN - 1) & ~(uintptr_t)(FXSAVE_ALIGN - 1));
}

/* FNSAVE leaves the FPU initialised; FXSAVE leaves it as it is. CR0.TS clear. */
static void state_save(void *state)
{
	if (cpu_has(CPU_FXSR))
		__asm__ volatile("fxsave (%0)" : : "r"(fxsave_image(state)) : "memory");
	else
		__asm__ volatile("fnsave (%0); fwait" : : "r"(state) : "memory");
}

/* FRSTOR, unlike FXRSTOR, would first raise an exception that a dead thread left. */
static void state_load(const void *state)
{
	if (cpu_has(CPU_FXSR))
		__asm__ volatile("fxrstor (%0)" : : "r"(fxsave_image((void *)(uintptr_t)state)));
	else
		__asm__ volatile("fnclex; frstor (%0)" : : "r"(state));
}

static void state_load_clean(void)
{
	uint32_t mxcsr = MXCSR_AFTER_RESET;

	__asm__ volatile("fninit");
	if (cpu_has(CPU_SSE))
		__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}

void fpu_init(void)
{
	uint32_t cr0 = cr0_read() | CR0_MP | CR0_NE | CR0_TS;

	cr0 = cpu_has(CPU_FPU) ? cr0 & ~(uint32_t)CR0_EM : cr0 | CR0_EM;
	cr0_write(cr0);
}

void fpu_disable(void)
{
	fpu_user = NULL;
	cr0_write(cr0_read() | CR0_TS);
}

static void fpu_enable(void)
{
	__asm__ volatile("clts");
}

/* Make the FPU hold the state of `current`, which has memory for it. `fresh`: it never
 * used the FPU before. Interrupts off. */
static void fpu_take(bool fresh)
{
	KASSERT(fpu_user == NULL && current->fpu != NULL, "fpu.1");
	fpu_enable();
	if (fpu_owner != current) {
		KASSERT(fpu_owner == NULL || fpu_owner->fpu != NULL, "fpu.2");
		if (fpu_owner != NULL)
			state_save(fpu_owner->fpu);
		if (fresh)
			state_load_clean();
		else
			state_load(current->fpu);
		COUNT(fpu_switches);
	}
	fpu_owner = fpu_user = current;
}

void fpu_trap(void)
{
	struct trap_frame *tf = current_trap_frame();
	bool fresh = current->fpu == NULL;
	uint32_t flags;

	if (!cpu_has(CPU_FPU)) {
		printk("fpu: %s used the FPU at 0x%08x, and this machine has none\n",
		       current->name, tf->eip);
		task_exception(tf, ABI_SIGILL, tf->eip, "no FPU");
		return;
	}
	if (fresh) {
		current->fpu = slab_alloc(state_cache(), GFP_KERNEL);
		if (current->fpu == NULL) {
			printk("fpu: no memory for the state of %s\n", current->name);
			task_kill(current_task(), TASK_STATUS_SIGNAL(ABI_SIGKILL));
			return;
		}
	}
	flags = irq_save();
	fpu_take(fresh);
	irq_restore(flags);
}

int fpu_copy(struct thread *to, struct thread *from)
{
	uint32_t flags;
	void *state;

	to->fpu = NULL;
	if (from->fpu == NULL)
		return OK;
	state = slab_alloc(state_cache(), GFP_KERNEL);
	if (state == NULL)
		return -ENOMEM;
	flags = irq_save();
	if (fpu_owner == from) {		/* bring its memory up to date */
		fpu_enable();
		state_save(from->fpu);
		fpu_owner = NULL;
		fpu_disable();
	}
	if (cpu_has(CPU_FXSR))
		memcpy(fxsave_image(state), fxsave_image(from->fpu), FXSAVE_BYTES);
	else
		memcpy(state, from->fpu, FNSAVE_BYTES);
	irq_restore(flags);
	to->fpu = state;
	return OK;
}

void fpu_reset(struct thread *t)
{
	uint32_t flags = irq_save();
	void *state = t->fpu;

	t->fpu = NULL;
	if (fpu_owner == t) {
		fpu_owner = NULL;
		fpu_disable();
	}
	irq_restore(flags);
	if (state != NULL)
		slab_free(state_cache(), state);
}

void fpu_free(struct thread *t)
{
	fpu_reset(t);
}
