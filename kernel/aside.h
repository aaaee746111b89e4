/*
 * Asides: what the kernel says to the host while it runs, at no cost of lab time.
 *
 * A place in the kernel that may have something to say reads the clock by clock_aside().
 * While nobody wants to hear, that is the ordinary reading of the clock. Else the words are
 * written between two instructions: for the lab clock no time passes, and the PIT is due as long
 * after as before. A run with asides and one without are the same to the last digit.
 *
 *   clock_aside() --int--> aside_entry (aside.asm) --> aside_in_lab(), aside_plain() --> aside_work()
 *
 * aside.1  lab: an aside takes no lab time, and the PIT's interrupt comes at the same lab time
 */
#ifndef KERNEL_ASIDE_H
#define KERNEL_ASIDE_H

#include "kernel/timer.h"
#include "kernel/types.h"

struct trace_record;

/* Registers of the place, as pushad leaves them. */
struct aside_frame {
	uint32_t edi, esi, ebp, esp, ebx, edx, ecx, eax;
};

/*
 * cycles_now(). While *plain is 0, aside_work(r) is called too. The two ways to the end take
 * as many instructions, and where one can be interrupted the other can: `int` stands in for
 * rdtsc, nop and jmp for the subtraction. Any context.
 */
static ALWAYS_INLINE uint64_t clock_aside(const uint8_t *plain, struct trace_record *r)
{
	uint64_t now;

	__asm__ volatile("cmpb $0, %[plain]; je 1f; rdtsc; subl %[base], %%eax; "
			 "sbbl %[base_high], %%edx; 2:\n"
			 ".subsection 1; 1: int $0x81; nop; jmp 2b; .previous"
			 : "=A"(now)
			 : [plain] "m"(*plain), [base] "m"(tsc_base),
			   [base_high] "m"(((const uint32_t *)&tsc_base)[1]), "c"(r)
			 : "memory", "cc");
	return now;
}

/* Lab: measure what an instruction takes on the TSC. Called before the clock runs. */
void aside_init(void);
/* The clock's source has changed, or what is wanted: clock_aside() is plain or not. */
void aside_settle(void);

/* For aside.asm only. In the lab: `tsc` was read by the fourth instruction after the `int`;
 * returns what the TSC shall be when the place is returned to. Interrupts off. */
uint64_t aside_in_lab(uint64_t tsc, struct aside_frame *f);
void aside_plain(struct aside_frame *f);
extern uint8_t aside_exact;		/* aside_in_lab() is the one to call */
extern uint32_t aside_step_shift;	/* an instruction takes 2^that on the TSC */

#endif
