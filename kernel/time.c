/*
 * The clock: what clock_ns() and cycles_read() count, and what follows from it.
 *
 * TSC: counts since time_init(), scaled to nanoseconds by one multiplication and a shift;
 *      the rate is measured against the PIT. In the lab it must be 1 GHz.
 * PIT: without a TSC, ticks and the count latched from channel 0.
 * Inside the lab's disk recipe the clock stands still, and idleness is skipped: see
 * docs/formats.md, "The lab clock".
 */
#include "kernel/time.h"

#include "drivers/pit.h"
#include "drivers/rtc.h"
#include "kernel/aside.h"
#include "kernel/cpu.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/thread.h"
#include "kernel/timer.h"

PARAM_U32(lab, "lab", 0, 0, 1);
PARAM_U32(seed, "seed", 1, 0, UINT32_MAX);
/* Wall time at boot, in seconds since 1970; 0: ask the RTC (in the lab: 1970). */
PARAM_U32(epoch, "epoch", 0, 0, UINT32_MAX);

/* For the tests: that many instructions at most, another number each time, are wasted in
 * the disk recipe, which must change nothing. */
PARAM_U32(recipe_jitter, "test.recipe_jitter", 0, 0, 1000000);

/* ns = counts * mult / 2^shift */
struct clock_scale {
	uint32_t mult, shift;
};

/* One moment on both. */
struct moment {
	uint64_t tsc;
	uint16_t counts;
};

enum { TSC_TRIES = 5, TSC_MEASURE_COUNTS = PIT_HZ / 50, TSC_CHECK_COUNTS = PIT_HZ / 1000 };
enum { MOMENT_READINGS = 8, STOPWATCH_POLLS_MAX = 10000000 };
enum { LAB_HZ = 1000000000, LAB_HZ_SLACK = LAB_HZ / 50 };
enum { TICK_NS = 10000151 };		/* TICK_COUNTS / PIT_HZ */
enum { PORT_DELAY = 0x80, PORT_DELAYS_PER_US = 2 };

uint32_t cycles_per_tick = 1;

enum clock_source clock_source;
uint64_t tsc_base;

static struct clock_scale scale;	/* of the TSC, or of the PIT's counts */
static uint64_t frozen_at;		/* CLOCK_FROZEN: what cycles_read() says */
static uint32_t tsc_per_us;
static ns_t wall_base;			/* wall time at clock 0 */
static uint64_t pit_last;		/* the latest count told, so that it never falls */

/* Rounded down to about 2^-31 of the rate. */
static struct clock_scale scale_from_hz(uint64_t hz)
{
	struct clock_scale s = { .shift = 32 };
	uint64_t mult = (NS_PER_SECOND << 32) / hz;

	while (mult > UINT32_MAX) {
		mult >>= 1;
		s.shift--;
	}
	s.mult = (uint32_t)mult;
	return s;
}

/* No overflow before the result itself is 2^64 ns, in 584 years. */
static inline ns_t scale_to_ns(uint64_t counts)
{
	uint64_t high = (counts >> 32) * scale.mult;
	uint64_t low = (uint64_t)(uint32_t)counts * scale.mult;

	return (high << (32 - scale.shift)) + (low >> scale.shift);
}

bool lab_mode(void)
{
	return lab != 0;
}

uint64_t cycles_read(void)
{
	if (clock_source == CLOCK_TSC)
		return rdtsc() - tsc_base;
	return clock_source == CLOCK_FROZEN ? frozen_at : timer_ticks;
}

ns_t cycles_to_ns(uint64_t cycles)
{
	return clock_is_ticks() ? cycles * TICK_NS : scale_to_ns(cycles);
}

/*
 * PIT counts since timer_start(). The counter may have gone round while its interrupt waits:
 * then the tick is not counted yet, and the count has just begun again. That the count is
 * behind what was told before says so, too: a busy emulator raises the interrupt late.
 */
static uint64_t pit_total(void)
{
	uint32_t flags = irq_save();
	uint32_t count = pit_count();
	uint32_t done = count >= TICK_COUNTS ? 0 : TICK_COUNTS - count;
	uint64_t total = timer_ticks * TICK_COUNTS + done;

	if (done < TICK_COUNTS / 2 && pit_irq_pending())
		total += TICK_COUNTS;
	if (total < pit_last)
		total += TICK_COUNTS;
	pit_last = MAX(pit_last, total);
	total = pit_last;
	irq_restore(flags);
	return total;
}

ns_t clock_ns(void)
{
	if (clock_source == CLOCK_NONE)
		return 0;
	return scale_to_ns(clock_source == CLOCK_TICKS ? pit_total() : cycles_read());
}

ns_t clock_wall_ns(void)
{
	return wall_base + clock_ns();
}

/* The stopwatch and the TSC at one moment: of some readings the one that took the least
 * time, because a host or an SMI may come between the two. */
static struct moment moment_read(void)
{
	struct moment best = { 0 };
	uint64_t least = UINT64_MAX;

	for (unsigned n = 0; n < MOMENT_READINGS; n++) {
		uint64_t begin = rdtsc();
		uint16_t counts = pit_stopwatch_counts();
		uint64_t took = rdtsc() - begin;

		if (took < least) {
			least = took;
			best = (struct moment){ .tsc = begin + took / 2, .counts = counts };
		}
	}
	return best;
}

/* The TSC's rate in Hz, measured over `counts` counts of the PIT or some more; 0 if the
 * PIT stands still or we were kept from looking until the stopwatch was over. */
static uint64_t tsc_measure_once(uint16_t counts)
{
	struct moment first, last;

	pit_stopwatch_start();
	first = moment_read();
	for (uint32_t n = 0; n < STOPWATCH_POLLS_MAX; n++) {
		if (pit_stopwatch_counts() - first.counts < counts)
			continue;
		last = moment_read();
		if (pit_stopwatch_over())
			return 0;
		return (last.tsc - first.tsc) * PIT_HZ / (uint32_t)(last.counts - first.counts);
	}
	return 0;
}

static uint64_t tsc_measure(uint16_t counts)
{
	uint64_t hz = 0;

	for (unsigned n = 0; n < TSC_TRIES && hz == 0; n++) {
		uint32_t flags = irq_save();

		hz = tsc_measure_once(counts);
		irq_restore(flags);
	}
	return hz;
}

/* Make the TSC, which runs at `hz`, the clock, from 0 on. */
static void clock_start_tsc(uint64_t hz)
{
	scale = scale_from_hz(hz);
	cycles_per_tick = (uint32_t)(hz / HZ);
	tsc_per_us = (uint32_t)(hz / 1000000) + 1;
	clock_source = CLOCK_TSC;
	aside_settle();
	tsc_base = rdtsc();
}

static bool is_lab_rate(uint64_t hz)
{
	return hz >= LAB_HZ - LAB_HZ_SLACK && hz <= LAB_HZ + LAB_HZ_SLACK;
}

/* In the lab one count is one nanosecond, which holds under -icount only, whatever an
 * instruction takes. The measurement is a check, longer on a CPU too slow for the short
 * one; the rate is exact by definition. */
static void clock_start_lab(void)
{
	uint64_t hz;

	if (!cpu_has(CPU_TSC))
		panic("lab=1 needs a CPU with a time-stamp counter");
	hz = tsc_measure(TSC_CHECK_COUNTS);
	if (!is_lab_rate(hz))
		hz = tsc_measure(TSC_MEASURE_COUNTS);
	if (!is_lab_rate(hz))
		panic("lab=1 needs QEMU's -icount: the TSC runs at %u kHz",
		      (unsigned)(hz / 1000));
	aside_init();
	clock_start_tsc(LAB_HZ);
}

static void clock_start(void)
{
	uint64_t hz = cpu_has(CPU_TSC) ? tsc_measure(TSC_MEASURE_COUNTS) : 0;

	if (hz != 0) {
		clock_start_tsc(hz);
		printk("clock: TSC, %u kHz\n", (unsigned)(hz / 1000));
		return;
	}
	scale = scale_from_hz(PIT_HZ);
	clock_source = CLOCK_TICKS;
	printk("clock: PIT, %u Hz\n", HZ);
}

/* Start the clock and the timer interrupt. Interrupts may still be off. */
void time_init(void)
{
	if (lab_mode())
		clock_start_lab();
	else
		clock_start();
	timer_start(lab_mode());
	wall_base = epoch * NS_PER_SECOND;
	if (epoch == 0 && !lab_mode())
		wall_base = rtc_read_seconds() * NS_PER_SECOND - clock_ns();
}

/* The finaliser of MurmurHash3 (A. Appleby, public domain): every bit of the input
 * changes half of the output's. */
static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

/* The order matters: first the clock stops, then the PIT's last interrupt is taken, so
 * that it costs no time; at the end the clock runs before the PIT is armed by it. */
void lab_recipe_begin(void)
{
	if (!lab_mode())
		return;
	KASSERT(clock_source == CLOCK_TSC, "the recipe is not nested");
	frozen_at = cycles_read();
	clock_source = CLOCK_FROZEN;
	aside_settle();
	timer_suspend();
}

/* Not by random_u32(), whose sequence belongs to the run. */
static void waste_time(void)
{
	static uint32_t calls;
	uint32_t left = mix(++calls) % (recipe_jitter + 1);

	while (left-- > 0)
		__asm__ volatile("" : : : "memory");
}

void lab_recipe_end(void)
{
	if (!lab_mode())
		return;
	KASSERT(clock_source == CLOCK_FROZEN, "the recipe was begun");
	waste_time();
	clock_source = CLOCK_TSC;
	aside_settle();
	tsc_base = rdtsc() - frozen_at;
	timer_resume();
}

void lab_clock_stop(uint64_t now)
{
	frozen_at = now;
	clock_source = CLOCK_FROZEN;
}

void lab_clock_go(uint64_t stolen)
{
	tsc_base += stolen;
	clock_source = CLOCK_TSC;
}

void lab_clock_skip(ns_t ns)
{
	if (clock_ns() < ns)
		tsc_base = rdtsc() - ns;	/* one count is one nanosecond */
}

/* Wait by the running channel 0, which goes round every TICK_COUNTS counts. */
static void delay_pit(uint32_t us)
{
	uint64_t left = us + us / 5 + 2ull;	/* a count is 0.838 us, and two to round */
	uint32_t last = pit_count();

	for (;;) {
		uint32_t now = pit_count();
		uint32_t passed = now <= last ? last - now : last + TICK_COUNTS - now;

		if (passed >= left)
			return;
		left -= passed;
		last = now;
	}
}

/* Wait at least `us` microseconds. The TSC itself counts, which goes on in the recipe. */
void delay_us(uint32_t us)
{
	if (clock_source >= CLOCK_TSC) {
		uint64_t end = rdtsc() + (uint64_t)us * tsc_per_us;

		while (rdtsc() < end)
			__asm__ volatile("pause" : : : "memory");
	} else if (clock_source == CLOCK_TICKS) {
		delay_pit(us);
	} else {
		/* A write to this port takes an ISA bus a microsecond or nearly that. */
		for (uint64_t n = 0; n < (uint64_t)us * PORT_DELAYS_PER_US; n++)
			outb(PORT_DELAY, 0);
	}
}

uint32_t random_of(const char *purpose)
{
	uint32_t x = mix(~seed);

	while (*purpose != 0)
		x = mix(x + (uint8_t)*purpose++);
	return x;
}

/* A Weyl sequence through mix(): every value once in 2^32 calls. Any context. */
uint32_t random_u32(void)
{
	static uint32_t calls;

	return mix(mix(seed) + ++calls * 0x9e3779b9u);
}
