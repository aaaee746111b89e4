/*
 * Exceptions and interrupts, in C. kernel/entry.asm brings a struct trap_frame here:
 * trap_user() for entries from user mode, trap_kernel() for those from the kernel.
 *
 *   interrupt    every handler of its line, then end-of-interrupt
 *   page fault   mm/fault.c
 *   FPU gone     kernel/fpu.c
 *   the rest     from user mode a signal (the table below), from the kernel a panic
 */
#include "kernel/abi/errno.h"
#include "kernel/abi/task.h"
#include "kernel/counters.h"
#include "kernel/cpu.h"
#include "kernel/crossing.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trap.h"
#include "mm/fault.h"
#include "mm/pgtable.h"

/* Called by kernel/entry.asm only. */
void trap_user(struct trap_frame *tf);
void trap_leave(void);
void trap_kernel(struct trap_frame *tf);
NORETURN void trap_double_fault(void);

enum {
	EXCEPTION_COUNT = 32, EXCEPTION_NM = 7, EXCEPTION_PF = 14,
	EFLAGS_IF = 0x200,

	IRQ_COUNT = 16, IRQ_ACTIONS_MAX = 24, IRQ_CASCADE = 2,
	IRQ_SPURIOUS_MASTER = 7, IRQ_SPURIOUS_SLAVE = 15,
	PIC_MASTER = 0x20, PIC_SLAVE = 0xa0,	/* command; data is the next port */
	PIC_ICW1_EDGE_ICW4 = 0x11, PIC_ICW4_8086 = 0x01,
	PIC_EOI = 0x20, PIC_READ_ISR = 0x0b,

	/* Words of a TSS (i486 manual, figure 6-1). */
	TSS_EIP = 8, TSS_EFLAGS = 9, TSS_EAX = 10, TSS_ECX = 11, TSS_EDX = 12, TSS_EBX = 13,
	TSS_ESP = 14, TSS_EBP = 15, TSS_ESI = 16, TSS_EDI = 17, TSS_CS = 19,
	VECTOR_DOUBLE_FAULT = 8,
};

static const struct { const char *what; uint8_t signal; } exceptions[EXCEPTION_COUNT] = {
	[0]  = { "division error", ABI_SIGFPE },
	[1]  = { "debug trap", ABI_SIGTRAP },
	[2]  = { "non-maskable interrupt", 0 },
	[3]  = { "breakpoint", ABI_SIGTRAP },
	[4]  = { "overflow", ABI_SIGSEGV },
	[5]  = { "bound range exceeded", ABI_SIGSEGV },
	[6]  = { "invalid opcode", ABI_SIGILL },
	[EXCEPTION_NM] = { "FPU not available", ABI_SIGILL },
	[8]  = { "double fault", 0 },
	[9]  = { "coprocessor segment overrun", ABI_SIGSEGV },
	[10] = { "invalid TSS", ABI_SIGSEGV },
	[11] = { "segment not present", ABI_SIGSEGV },
	[12] = { "stack segment fault", ABI_SIGSEGV },
	[13] = { "general protection fault", ABI_SIGSEGV },
	[EXCEPTION_PF] = { "page fault", ABI_SIGSEGV },
	[16] = { "x87 floating-point error", ABI_SIGFPE },
	[17] = { "alignment check", ABI_SIGBUS },
	[18] = { "machine check", 0 },
	[19] = { "SIMD floating-point error", ABI_SIGFPE },
};

struct irq_action {
	irq_handler	   handler;
	void		  *arg;
	struct irq_action *next;
};

static struct irq_action irq_actions[IRQ_ACTIONS_MAX];
static unsigned irq_action_count;
static struct irq_action *irq_lines[IRQ_COUNT];
static uint64_t irq_counts[IRQ_COUNT];
static uint16_t irq_masked = 0xffff;

/* ---- Interrupts ---- */

static void pic_set_mask(void)
{
	outb(PIC_MASTER + 1, (uint8_t)irq_masked);
	outb(PIC_SLAVE + 1, (uint8_t)(irq_masked >> 8));
}

void irq_mask(unsigned irq)
{
	uint32_t flags = irq_save();

	irq_masked |= (uint16_t)BIT(irq);
	pic_set_mask();
	irq_restore(flags);
}

void irq_unmask(unsigned irq)
{
	uint32_t flags = irq_save();

	irq_masked &= (uint16_t)~BIT(irq);
	pic_set_mask();
	irq_restore(flags);
}

/* Initialise both 8259As: vectors from VECTOR_IRQ0 on, all lines masked but the
 * cascade. Intel 8259A data sheet, ICW1 to ICW4. */
static void pic_init(void)
{
	outb(PIC_MASTER, PIC_ICW1_EDGE_ICW4);
	outb(PIC_SLAVE, PIC_ICW1_EDGE_ICW4);
	outb(PIC_MASTER + 1, VECTOR_IRQ0);
	outb(PIC_SLAVE + 1, VECTOR_IRQ0 + 8);
	outb(PIC_MASTER + 1, BIT(IRQ_CASCADE));
	outb(PIC_SLAVE + 1, IRQ_CASCADE);
	outb(PIC_MASTER + 1, PIC_ICW4_8086);
	outb(PIC_SLAVE + 1, PIC_ICW4_8086);
	irq_unmask(IRQ_CASCADE);
}

int irq_register(unsigned irq, irq_handler handler, void *arg)
{
	struct irq_action *a, **end = &irq_lines[irq];
	uint32_t flags;

	if (irq_action_count == IRQ_ACTIONS_MAX)
		return -EBUSY;
	flags = irq_save();
	a = &irq_actions[irq_action_count++];
	a->handler = handler;
	a->arg = arg;
	while (*end != NULL)
		end = &(*end)->next;
	*end = a;
	irq_unmask(irq);
	irq_restore(flags);
	return OK;
}

void irq_report(void)
{
	for (unsigned i = 0; i < IRQ_COUNT; i++)
		if (irq_counts[i] != 0)
			report("@counter irq%u %llu\n", i, (unsigned long long)irq_counts[i]);
}

/* An interrupt that went away before the CPU asked for its number comes as line 7 of
 * its PIC, without its in-service bit: no handler, no end-of-interrupt from that PIC. */
static bool irq_spurious(unsigned irq)
{
	uint16_t pic = irq == IRQ_SPURIOUS_MASTER ? PIC_MASTER : PIC_SLAVE;

	if (irq != IRQ_SPURIOUS_MASTER && irq != IRQ_SPURIOUS_SLAVE)
		return false;
	outb(pic, PIC_READ_ISR);
	if (inb(pic) & 0x80)
		return false;
	if (irq == IRQ_SPURIOUS_SLAVE)
		outb(PIC_MASTER, PIC_EOI);
	return true;
}

static void irq_dispatch(unsigned irq)
{
	if (irq_spurious(irq))
		return;
	COUNT(interrupts);
	irq_counts[irq]++;
	/* Before the handlers, because the lab's disk recipe takes an interrupt of the
	 * drive inside the timer's handler. The handlers run with interrupts off. */
	if (irq >= 8)
		outb(PIC_SLAVE, PIC_EOI);
	outb(PIC_MASTER, PIC_EOI);
	for (struct irq_action *a = irq_lines[irq]; a != NULL; a = a->next)
		a->handler(irq, a->arg);
}

/* ---- Exceptions ---- */

static inline uint32_t fault_address(void)
{
	uint32_t addr;

	__asm__ volatile("movl %%cr2, %0" : "=r"(addr));
	return addr;
}

/* A page fault of the kernel; those of user mode are possible only when memory is managed
 * and nothing panics. */
static void kernel_page_fault(struct trap_frame *tf)
{
	uint32_t addr = fault_address();

	if (pages == NULL || panicking())	/* mm can't help */
		panic_trap(tf, "page fault at 0x%08x, error %#x, %s", addr, tf->error,
			   panicking() ? "in a panic" : "before memory is managed");
	if (tf->eflags & EFLAGS_IF)
		__asm__ volatile("sti");
	page_fault_trap(tf, addr);
}

static void user_exception(struct trap_frame *tf)
{
	const char *what = exceptions[tf->vector].what;
	int signal = exceptions[tf->vector].signal;

	if (signal == 0)
		panic_trap(tf, "%s", what != NULL ? what : "unknown exception");
	__asm__ volatile("sti");
	if (tf->vector == EXCEPTION_NM)
		fpu_trap();
	else
		task_exception(tf, signal, tf->eip, what);
}

static void user_page_fault(struct trap_frame *tf)
{
	uint32_t addr = fault_address();

	irq_on();
	page_fault_trap(tf, addr);
}

/* From user mode and back. Interrupts are off, at the end too. */
void trap_user(struct trap_frame *tf)
{
	thread_enter_kernel();
	if (tf->vector == EXCEPTION_PF)
		user_page_fault(tf);
	else if (tf->vector >= VECTOR_IRQ0)
		irq_dispatch(tf->vector - VECTOR_IRQ0);
	else
		user_exception(tf);
	irq_off();
	thread_leave_kernel();
}

/* On a new thread's way to user mode, interrupts off. */
void trap_leave(void)
{
	thread_leave_kernel();
}

/* From the kernel. Interrupts are off; entry.asm returns to where it was. */
void trap_kernel(struct trap_frame *tf)
{
	if (tf->vector >= VECTOR_IRQ0)
		irq_dispatch(tf->vector - VECTOR_IRQ0);
	else if (tf->vector == EXCEPTION_PF)
		kernel_page_fault(tf);
	else
		panic_trap(tf, "%s in the kernel, error %#x",
			   exceptions[tf->vector].what != NULL ?
			   exceptions[tf->vector].what : "unknown exception", tf->error);
	if (tf->eflags & EFLAGS_IF)
		__asm__ volatile("cli");
}

/* The double fault's own task: the CPU left the registers in kernel_tss. Nearly always
 * the stack was full and the fault's frame could not be pushed. */
void trap_double_fault(void)
{
	const uint32_t *t = kernel_tss;
	struct trap_frame tf = {
		.edi = t[TSS_EDI], .esi = t[TSS_ESI], .ebp = t[TSS_EBP], .ebx = t[TSS_EBX],
		.edx = t[TSS_EDX], .ecx = t[TSS_ECX], .eax = t[TSS_EAX],
		.vector = VECTOR_DOUBLE_FAULT, .eip = t[TSS_EIP], .cs = t[TSS_CS],
		.eflags = t[TSS_EFLAGS], .esp = t[TSS_ESP],
	};
	uint32_t addr = fault_address();
	const char *stack;

	stack = kstack_guard_hit(addr);
	if (stack != NULL)
		panic_trap(&tf, "kernel stack overflow in thread %s", stack);
	panic_trap(&tf, "double fault, cr2 0x%08x", addr);
}

struct trap_frame *current_trap_frame(void)
{
	return (struct trap_frame *)(uintptr_t)
		(current->kstack_top - sizeof(struct trap_frame));
}

/* The tables stand since boot/start.asm; the interrupt controllers are the rest. */
void trap_init(void)
{
	pic_init();
}
