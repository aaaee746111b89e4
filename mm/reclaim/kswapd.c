/*
 * The reclaim thread: sleeps until an allocation finds a zone at its low watermark, then
 * lets the policy work until all zones are well, or nothing more can be done.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/oom.h"
#include "mm/reclaim/policies.h"
#include "mm/swap/area.h"

PARAM_U32(kswapd_priority, "kswapd.priority", PRIO_USER, PRIO_DRIVER, PRIO_USER);

enum { KSWAPD_REST_MS = 20 };

static struct thread *kswapd;
static bool wanted;			/* interrupts off */
static struct waitq kswapd_waitq = WAITQ_INIT(kswapd_waitq);

static uint32_t sum_of_marks(bool high)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < ZONE_COUNT; i++)
		sum += high ? zones[i].high : zones[i].low;
	return sum;
}

/* See reclaim.h. Cheap if it is awake already. */
void kswapd_wake(void)
{
	uint32_t irq;

	if (wanted)
		return;
	irq = irq_save();
	wanted = true;
	waitq_wake_one(&kswapd_waitq);
	irq_restore(irq);
}

ns_t kswapd_time_ns(void)
{
	return kswapd ? thread_time_ns(kswapd, CPU_SYSTEM) : 0;
}

/* Balance until all is well, or a run frees nothing: what that means is for the OOM rule to
 * say, if it listens to kswapd, or else when the allocating threads ask. */
static void work(void)
{
	uint64_t freed_before;

	COUNT(pageoutrun);
	TRACE(KSWAPD_WAKE, frames_free(), sum_of_marks(false), 0);
	do {
		freed_before = counters[COUNT_pgsteal_kswapd];
		reclaim->balance();
		if (reclaim->needs_balance() && swap_writes_pending() > 0)
			block_wait_congestion(KSWAPD_REST_MS);
		cond_resched();
	} while (reclaim->needs_balance() && counters[COUNT_pgsteal_kswapd] != freed_before);
	if (reclaim->needs_balance())
		(void)oom_kill(OOM_ASKS_KSWAPD, 0);
	TRACE(KSWAPD_SLEEP, frames_free(), sum_of_marks(true), 0);
}

/* See reclaim.h. Only kswapd calls it. */
bool kswapd_sleep(unsigned ms)
{
	ns_t deadline = ms ? clock_ns() + ms * NS_PER_MS : 0;
	bool woken;

	(void)wait_event(&kswapd_waitq, wanted, SLEEP_UNKILLABLE, deadline, "low memory");
	woken = wanted;
	wanted = false;
	return woken;
}

/* Sleep until woken, then balance until all is well or a run frees nothing. */
static void kswapd_turn(void)
{
	(void)kswapd_sleep(0);
	if (reclaim->needs_balance())
		work();
}

static NORETURN void kswapd_main(void *arg)
{
	void (*turn)(void) = reclaim->kswapd ? reclaim->kswapd : kswapd_turn;

	(void)arg;
	current->memalloc = 1;
	for (;;)
		turn();
}

/* Called once at boot, when there are threads. */
void kswapd_start(void)
{
	kswapd = thread_create(NULL, "kswapd", kswapd_main, NULL,
			       (enum thread_priority)kswapd_priority);
	if (!kswapd)
		panic("kswapd can't be started: no memory for a thread");
}
