/*
 * The clock without a TSC against a PIT whose interrupts come late, as a busy emulator's do.
 * links: kernel/time.c
 *
 * The machine is a variable: `truth` are the counts since the timer was started. Each round of
 * the counter raises an interrupt, of which one at a time can be pending.
 */
#include "drivers/pit.h"
#include "drivers/rtc.h"
#include "kernel/aside.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"
#include "kernel/time.h"
#include "kernel/timer.h"

#include "alone.h"

enum { STEPS = 200000, STEP_MOST = TICK_COUNTS / 4, LATE_MOST = TICK_COUNTS / 2, SLACK_NS = 2000 };	/* and what scaling loses */

uint64_t timer_ticks;
uint32_t cpu_features;

static uint64_t truth, raised_at;	/* raised_at: of the next interrupt */
static bool pending;

void printk(const char *fmt, ...) { (void)fmt; }
void aside_init(void) { }
void aside_settle(void) { }
uint64_t rtc_read_seconds(void) { return 0; }
void timer_start(bool one_shot) { (void)one_shot; }
void timer_suspend(void) { }
void timer_resume(void) { }
void pit_stopwatch_start(void) { }
uint16_t pit_stopwatch_counts(void) { return 0; }
bool pit_stopwatch_over(void) { return true; }
uint16_t pit_count(void) { return (uint16_t)(TICK_COUNTS - truth % TICK_COUNTS); }
bool pit_irq_pending(void) { return pending; }

/* The interrupt of a round is raised up to LATE_MOST counts after its end; the CPU takes it then or,
 * if they are `masked`, a step later. */
static void go_on(uint64_t counts, bool masked)
{
	bool waits = pending;

	truth += counts;
	if (truth >= raised_at) {
		pending = true;
		raised_at = (raised_at / TICK_COUNTS + 1) * TICK_COUNTS + (uint64_t)(rand() % LATE_MOST);
	}
	if (pending && (waits || !masked)) {
		pending = false;
		timer_ticks++;
	}
}

int main(int argc, char **argv)
{
	unsigned fell = 0, wrong = 0;
	ns_t last = 0;

	srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
	raised_at = TICK_COUNTS;
	time_init();
	for (unsigned step = 0; step < STEPS; step++) {
		ns_t told, wanted, slack;

		go_on((uint64_t)(rand() % STEP_MOST), rand() % 2 == 0);
		told = clock_ns();
		wanted = truth * NS_PER_SECOND / PIT_HZ;
		fell += told < last;
		slack = SLACK_NS + (wanted >> 30);
		wrong += told > wanted + slack || wanted > told + slack;
		last = told;
	}
	check(fell == 0, "time-pit-01", "without a TSC the clock never goes back");
	check(wrong == 0, "time-pit-02", "it is right when the interrupts of the PIT come late");
	printf("1..%d\n", test);
	return failures != 0;
}
