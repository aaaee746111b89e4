/* Entry from user mode and interrupts: frames, vectors, handlers. */
#ifndef KERNEL_TRAP_H
#define KERNEL_TRAP_H

#include "kernel/types.h"

/* What kernel/entry.asm pushes; the same for every vector. */
struct trap_frame {
	uint32_t edi, esi, ebp, esp_unused, ebx, edx, ecx, eax;	/* pushad */
	uint32_t vector, error;
	uint32_t eip, cs, eflags;
	uint32_t esp, ss;		/* only if from user mode */
};

enum {
	GDT_KERNEL_CODE = 0x08, GDT_KERNEL_DATA = 0x10,
	GDT_USER_CODE   = 0x1b, GDT_USER_DATA   = 0x23,
	VECTOR_IRQ0 = 0x20, VECTOR_SYSCALL = 0x80,
};

static inline bool trap_from_user(const struct trap_frame *tf)
{
	return (tf->cs & 3) == 3;
}

void trap_init(void);		/* GDT, TSS, IDT, PIC; faults are told from here on */

/* The frame that `current` entered the kernel with; at the top of its stack. */
struct trap_frame *current_trap_frame(void);
/* Where a new user thread starts: pops the frame at the top of its kernel stack. */
NORETURN void return_to_user(void);

/* Where the CPU puts esp when it enters the kernel from user mode: the TSS's esp0. */
extern uint32_t kernel_tss[];
static inline void trap_set_kstack(uint32_t top) { kernel_tss[1] = top; }

typedef void (*irq_handler)(unsigned irq, void *arg);
/* Handlers run with interrupts off. Several may share a line. -EBUSY: table full. */
int  irq_register(unsigned irq, irq_handler handler, void *arg);
void irq_mask(unsigned irq);
void irq_unmask(unsigned irq);
/* Write the interrupts of each line that had any as "@counter irqN VALUE". */
void irq_report(void);

/* Called by entry.asm, interrupts off, for every system call; see kernel/syscall.c. The
 * arguments are where entry.asm has pushed them. */
struct syscall_arguments {
	uint32_t arg[6];
};
int32_t syscall_dispatch(uint32_t number, struct syscall_arguments from_user);

#endif
