/*
 * The kernel around mm/: one thread that runs tests, and what happens while it sleeps. Every
 * sleep and every cond_resched() may let kswapd run and transfers end, as the seed says; so
 * reclaim gets in wherever the kernel allows it to.
 */
#include <stdio.h>

#include "kernel/abi/errno.h"
#include "kernel/boot.h"
#include "kernel/counters.h"
#include "kernel/handle.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trap.h"
#include "machine.h"
#include "../no_threads.h"
#include "../no_traps.h"
#include "mm/audit.h"
#include "mm/fault.h"
#include "mm/oom.h"
#include "mm/reclaim/policies.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap/area.h"
#include "shim.h"

enum { IDLE_SLEEPS_MAX = 1000 };

struct boot_info boot;
static struct thread kswapd_thread = { .memalloc = 1, .kthread = true, .name = "kswapd" };
static bool kswapd_wanted;
static uint32_t free_at_start;

/* ---- Others run ---- */

void kswapd_wake(void)
{
	kswapd_wanted = true;
}

bool kswapd_sleep(unsigned ms)
{
	(void)ms;
	return false;
}

/* Where 2.2's policy is built in, among others, it is that which runs here. */
static void choose_policy(void)
{
	unsigned i = 0;

	while (reclaim_policies[i] && strcmp(reclaim_policies[i]->name, "2.2"))
		i++;
	if (!reclaim_policies[i])
		return;
	reclaim = reclaim_policies[i];
	reclaim->set_watermarks();
	lru_rules = reclaim->lru;
	swap_rules = reclaim->swap;
	swap_rules.readahead = 8;
}

/* Does the clock wake kswapd, now and then? */
static bool clock_wakes_kswapd(void)
{
	return reclaim->kswapd && shim_random(16) == 0;
}

ns_t thread_time_ns(const struct thread *t, int mode)
{
	(void)t;
	(void)mode;
	return 0;
}

ns_t kswapd_time_ns(void)
{
	return 0;
}

/* kswapd's turn, once: it must not be in the middle of one. */
static void kswapd_runs(void)
{
	struct thread *before = current;

	kswapd_wanted = false;
	current = &kswapd_thread;
	if (reclaim->balance)
		reclaim->balance();
	else
		reclaim->kswapd();
	KASSERT2(current->held_ranks == 0, "lock.4", current->held_ranks, 0);
	current = before;
}

static void others_run(void)
{
	kswapd_wanted |= clock_wakes_kswapd();
	if (kswapd_wanted && current != &kswapd_thread && shim_random(2))
		kswapd_runs();
	while (shim_random(3) && disk_work())
		continue;
}

static void resched(void)
{
	if (shim_random(4) == 0)
		others_run();
}

/* Time passes: a transfer ends, or kswapd has worked; else somebody waits for nothing. */
static void sleep_a_little(const char *what)
{
	static unsigned idle;

	others_run();
	if (disk_work()) {
		idle = 0;
		return;
	}
	if (kswapd_wanted && current != &kswapd_thread)
		kswapd_runs();
	if (++idle > IDLE_SLEEPS_MAX)
		panic("sleeps for ever: %s", what);
}

void machine_settle(void)
{
	while (disk_work())
		continue;
	if (kswapd_wanted)
		kswapd_runs();
	while (disk_work())
		continue;
}

/* ---- What there is none of ---- */

void task_kill(struct task *t, int32_t status) { t->exit_status = status; }
void oom_kill_faulter(struct task *t, vaddr_t addr) { (void)addr; task_kill(t, 0); }
void task_for_each(bool (*fn)(struct task *t, void *arg), void *arg) { (void)fn; (void)arg; }
int copy_to_user(vaddr_t to, const void *from, size_t n) { (void)to; (void)from; (void)n; return -EFAULT; }

/* ---- Nobody can be killed: when all else fails, the allocation does ---- */

void oom_init(const char *era) { (void)era; }
struct oom_figures oom_figures(const struct task *t) { (void)t; return (struct oom_figures){ 0 }; }

enum oom_result oom_kill(enum oom_asker who, unsigned order)
{
	(void)who;
	if (!oom_default.is_oom(order) || swap_off_call_off())
		return OOM_RETRY;
	return OOM_NOBODY;
}

/* ---- On and off ---- */

struct machine_shape machine_draw_shape(void)
{
	struct machine_shape s = { .ram = 1400u << 10, .disks = 1 + shim_random(DISKS) };

	s.ram += shim_random(8) ? shim_random(2u << 20) & PAGE_MASK : 15u << 20;
	for (unsigned i = 0; i < s.disks; i++) {
		s.slots[i] = 300 + shim_random(1200);
		s.priority[i] = (int)shim_random(3);
	}
	return s;
}

void machine_start(uint32_t seed, const struct machine_shape *shape)
{
	struct machine_shape drawn;

	shim_quiet = true;
	shim_seed(seed);
	if (!shape) {
		drawn = machine_draw_shape();
		shape = &drawn;
	}
	reclaim = NULL;
	shim_machine(shape->ram);
	zero_page = page_alloc(GFP_ZERO, 0);
	page_set(zero_page, PG_UPTODATE);
	frame_reserve(zero_page);
	reclaim_init();
	choose_policy();
	kswapd_wanted = false;
	shim_sleep = sleep_a_little;
	shim_resched = resched;
	disks_start(shape);
	free_at_start = frames_free();
	for (unsigned i = 0; i < shape->disks; i++)
		CHECK(swap_on(disk_name(i), shape->priority[i]) == OK);
}

void machine_stop(void)
{
	machine_settle();
	for (unsigned i = 0; i < DISKS; i++)
		if (disk_in_use(i))
			CHECK(swap_off(disk_name(i)) == OK);
	(void)reclaim_drop_caches();
	machine_settle();
	CHECK(machine_audit() == 0);
	slab_shrink();
	CHECK(frames_free() == free_at_start);
	CHECK(commit_total() == 0 && rmap_mapped_pages() == 0 && slab_frames() == 0);
	disks_stop();
	shim_sleep = NULL;
	shim_resched = NULL;
	shim_quiet = false;
}

unsigned machine_audit(void)
{
	return audit() + cpu_check_tlb();
}
