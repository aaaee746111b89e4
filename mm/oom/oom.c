/*
 * The OOM killer's part that all rules share: one victim at a time, a bounded wait for
 * his memory, the report. The rule in force (oom=NAME) says when and who.
 *
 * At most one task is dying by our hand. Until its mm is gone everybody else waits, but
 * no longer than VICTIM_TIME: if he hasn't gone by then (a disk that hangs), the next
 * may be chosen. task_kill() wakes him out of every killable sleep, and a killed thread
 * may use the reserve (may_use_reserve()).
 */
#include "mm/oom/rules.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/frame.h"
#include "mm/object.h"
#include "mm/pgtable.h"
#include "mm/reclaim.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/swap/area.h"
#include "mm/vma.h"

PARAM_STRING(oom_name, "oom", "");

#define VICTIM_TIME (10 * NS_PER_SECOND)

static const struct oom_rule *const rules[] = {
	&oom_default, &oom_linux22, &oom_linux249, &oom_linux2413, &oom_linux2414pre6,
	&oom_linux2414, &oom_linux26,
};
static const struct oom_rule *rule;
static ns_t dying_since;		/* 0: nobody was dying when we last looked */

static void list_names(char *to, size_t size)
{
	size_t at = 0;

	for (unsigned i = 0; i < ARRAY_LEN(rules) && at < size; i++)
		at += (size_t)ksnprintf(to + at, size - at, "%s%s", at ? ", " : "",
					rules[i]->name);
}

void oom_init(const char *era)
{
	char names[128];

	if (!*oom_name)
		strlcpy(oom_name, era, sizeof(oom_name));
	for (unsigned i = 0; i < ARRAY_LEN(rules); i++)
		if (!strcmp(rules[i]->name, oom_name))
			rule = rules[i];
	list_names(names, sizeof(names));
	if (!rule)
		panic("oom=%s: there is no such rule; this build has: %s", oom_name, names);
}

/* Page tables, the directory, and vmas, in pages. */
static uint32_t table_pages(const struct mm *mm)
{
	return pte_table_count(mm) + 1 + mm->vma_count * sizeof(struct vma) / PAGE_SIZE;
}

/* Slots that hold pages of objects which the mm maps: no PTE names them. Pages of objects that
 * are in memory and mapped are in its rss. */
static uint32_t object_slots(const struct mm *mm)
{
	uint32_t sum = 0;
	struct vma *v;

	list_for_each(v, &mm->vmas, link)
		if (v->object)
			sum += object_swapped_within(v->object, v->object_page, vma_pages(v));
	return sum;
}

struct oom_figures oom_figures(const struct task *t)
{
	const struct mm *mm = t->mm;

	if (!mm)
		return (struct oom_figures){ 0 };
	return (struct oom_figures){ .rss = mm->rss, .swap = mm->swap_ptes,
				     .tables = table_pages(mm),
				     .objects = handle_table_pages(&t->handles) + object_slots(mm),
				     .vm = mm->total_pages };
}

struct choice {
	struct task *victim;
	uint32_t     points;
	bool	     dying;		/* somebody is on his way out already */
	bool	     for_us;		/* ... and waits for the running thread first */
};

static bool consider(struct task *t, void *arg)
{
	struct choice *c = arg;
	uint32_t points;

	if (!t->mm)
		return true;
	if (t->flags & (TASK_OOM | TASK_DYING)) {
		c->dying = true;
		c->for_us |= task_waits_for_current(t);
		return true;
	}
	points = rule->badness(t);
	if (points > c->points) {
		c->points = points;
		c->victim = t;
	}
	return true;
}

static bool print_task(struct task *t, void *arg)
{
	struct oom_figures f = oom_figures(t);

	(void)arg;
	printk("oom: %5d %8u %8u %8u %8u %8u  %s%s%s\n", t->pid, f.rss, f.swap, f.tables,
	       f.objects, f.vm, t->name, t->flags & TASK_SERVER ? " (server)" : "",
	       t->flags & (TASK_DYING | TASK_OOM) ? " (dying)" : "");
	return true;
}

/* The figures that decided: zones, swap, tasks. In pages. */
static void print_report(unsigned order, const struct choice *c)
{
	printk("oom: no memory for a block of order %u; rule %s\n", order, rule->name);
	for (unsigned i = 0; i < ZONE_COUNT; i++)
		if (zones[i].present)
			printk("oom: zone %s: free %u of %u, min %u, active %u, inactive %u%s\n",
			       zones[i].name, zones[i].free, zones[i].present, zones[i].min,
			       zones[i].active_count, zones[i].inactive_count,
			       zones[i].all_unreclaimable ? ", nothing reclaimable" : "");
	printk("oom: slots free %u of %u, to steal %u; swap cache %u, being written %u, read %u, slab %u\n",
	       swap_slots_free(), swap_slots_total(), swap_slots_stealable(), swap_cached_pages(),
	       swap_writes_pending(), swap_reads_pending(), slab_frames());
	printk("oom:   pid      rss     swap   tables  objects       vm  name\n");
	task_for_each(print_task, NULL);
	if (c->victim)
		printk("oom: %s has the most to give: %u points\n", c->victim->name, c->points);
}

static void kill(struct task *t)
{
	COUNT(oom_kill);
	TRACE(OOM, t->pid, t->mm->rss, frames_free());
	t->flags |= TASK_OOM;
	printk("Out of memory: killed %d (%s)\n", t->pid, t->name);
	if (rule->message)
		printk("%s %d (%s).\n", rule->message, t->pid, t->name);
	task_kill(t, TASK_STATUS_SIGNAL(ABI_SIGKILL));
}

static enum oom_result kill_victim(struct task *t)
{
	dying_since = clock_ns();
	kill(t);
	return t == current_task() ? OOM_DIE : OOM_RETRY;
}

/*
 * Is it OOM, and who has to die? See oom.h for what is returned. While a victim is dying,
 * for VICTIM_TIME at most, everybody else tries again; so does he for whom the rule says that
 * it is not OOM yet, or who calls a swapoff off. Otherwise the report is printed and whoever
 * has most points is killed. Called by a thread that waits for memory and holds no
 * spinlock; doesn't sleep.
 */
enum oom_result oom_kill(enum oom_asker who, unsigned order)
{
	struct choice c = { .victim = NULL };

	if (current->killed)
		return OOM_DIE;		/* whoever did it: his own memory is on its way */
	task_for_each(consider, &c);
	if (c.for_us)
		return OOM_NOBODY;	/* fork's parent: it can die when fork has failed */
	if (c.dying && mutex_held(&swapon_lock))
		return OOM_NOBODY;	/* he may wait for the mmap_lock that swapoff holds */
	if (!c.dying)
		dying_since = 0;
	else if (dying_since == 0)
		dying_since = clock_ns();
	if (c.dying && clock_ns() < dying_since + VICTIM_TIME)
		return OOM_RETRY;
	if (!(rule->askers & who)) {
		if (who == OOM_ASKS_ALLOC)
			kswapd_wake();	/* it will be listened to, if its run fails too */
		return OOM_RETRY;
	}
	if (!rule->is_oom(order))
		return OOM_RETRY;
	if (swap_off_call_off())
		return OOM_RETRY;
	if (rule->caller_dies)
		return OOM_NOBODY;
	print_report(order, &c);
	return c.victim ? kill_victim(c.victim) : OOM_NOBODY;
}

/* See oom.h. The line is 2.2's own (docs/history.md 7.3). */
void oom_kill_faulter(struct task *t, vaddr_t addr)
{
	if (rule->caller_dies) {
		printk("VM: killing process %s\n", t->name);
		kill(t);
		return;
	}
	printk("%s (%d): no memory for %#x, killed\n", t->name, t->pid, addr);
	task_kill(t, TASK_STATUS_SIGNAL(ABI_SIGKILL));
}
