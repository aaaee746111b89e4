/*
 * Asides: see kernel/aside.h.
 *
 * In the lab the TSC counts instructions, and an aside takes `stolen` counts from the end of its
 * `int` to the end of its `iret`. The clock's base goes on by as much. The PIT can't be stopped: it
 * is loaded anew, with as many counts that the new end lies somewhat behind what it should be, and
 * the way back is taken exactly that much later (aside_entry's loop). An interrupt that the PIT
 * asked for meanwhile is dropped; one that waited before the aside still waits after it.
 *
 * QEMU's PIT ends `counts` / PIT_HZ seconds after the instruction that loaded it, rounded up to a
 * nanosecond and then to an instruction.
 */
#include "kernel/aside.h"

#include "drivers/pit.h"
#include "kernel/sample.h"
#include "kernel/stream.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/swap/map.h"

enum { ASIDE_RDTSC = 4 };	/* instructions from the `int` to the first rdtsc */
enum { SLACK = 500 };		/* ... from loading the PIT to the way back; some 100 are used */

uint8_t aside_exact;
uint32_t aside_step_shift;

/* Nanoseconds, which are TSC counts, of that many instructions. */
static inline uint64_t steps(uint32_t instructions)
{
	return (uint64_t)instructions << aside_step_shift;
}

void aside_init(void)
{
	uint32_t two;

	__asm__ volatile("rdtsc; movl %%eax, %%ecx; rdtsc; subl %%ecx, %%eax"
			 : "=a"(two) : : "ecx", "edx");
	aside_step_shift = (uint32_t)__builtin_ctz(two) - 1;
}

void aside_settle(void)
{
	bool running = clock_source == CLOCK_TSC;

	aside_exact = running && lab_mode();
	stream_settle(running);
}

/* From the PIT's load to its end. */
static uint64_t oneshot_ns(uint16_t counts)
{
	uint64_t ns = (counts * NS_PER_SECOND + PIT_HZ - 1) / PIT_HZ;

	return (ns + steps(1) - 1) & ~(steps(1) - 1);
}

static uint64_t oneshot_end(void)
{
	struct pit_oneshot p = pit_oneshot();

	return p.counts == 0 ? 0 : p.loaded - steps(1) + oneshot_ns(p.counts);
}

/* Who has something to say. r: what was just recorded; NULL: a moment has come. */
static void aside_work(const struct trace_record *r, uint64_t now)
{
	if (!r) {
		sample_moment();
		return;
	}
	stream_record(r, now);
	if (r->number == TRACE_OOM + 1 && swap_map_at_oom())
		swap_map_write("oom");
}

/* Let the PIT end `left` after the place is returned to; returns when that has to be.
 * waited: its interrupt was pending before. */
static uint64_t oneshot_move(uint64_t left, bool waited)
{
	uint16_t counts = (uint16_t)((left + steps(SLACK)) * PIT_HZ / NS_PER_SECOND + 1);
	uint64_t ns = oneshot_ns(counts);

	pit_start_oneshot(counts);
	if (!waited && pit_irq_pending())
		pit_irq_drop();
	return pit_oneshot().loaded - steps(1) + ns - left;
}

uint64_t aside_in_lab(uint64_t tsc, struct aside_frame *f)
{
	bool waited = pit_irq_pending();
	uint64_t entered = tsc - steps(ASIDE_RDTSC), end = oneshot_end(), leave;
	uint64_t now = entered - tsc_base;

	waited = waited && rdtsc() < end;
	f->eax = (uint32_t)now;
	f->edx = (uint32_t)(now >> 32);
	lab_clock_stop(now);
	aside_work((const struct trace_record *)f->ecx, now);
	leave = end > entered ? oneshot_move(end - entered, waited) : rdtsc() + steps(SLACK);
	lab_clock_go(leave - entered);			/* aside.1 */
	return leave;
}

void aside_plain(struct aside_frame *f)
{
	uint64_t now = cycles_read();

	f->eax = (uint32_t)now;
	f->edx = (uint32_t)(now >> 32);
	aside_work((const struct trace_record *)f->ecx, now);
}
