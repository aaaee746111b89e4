/*
 * sysinfo(): figures for programs. Each SYSINFO_* has a function that fills a kernel buffer;
 * the call copies out what fits. Rows are collected into memory of the kernel first,
 * because a copy may sleep and the lists may change meanwhile.
 */
#include "drivers/block.h"
#include "kernel/abi/errno.h"
#include "kernel/abi/sysinfo.h"
#include "kernel/boot.h"
#include "kernel/counters.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/usercopy.h"
#include "mm/audit.h"
#include "mm/object.h"
#include "mm/pgtable.h"
#include "mm/reclaim.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/vma.h"

/* What a filler writes into, and how far it got: `used` grows beyond `size` for text that
 * didn't fit, which is then cut. */
struct figures {
	char  *to;
	size_t size, used;
};

/* ---- Fillers ---- */

static void fill_memory(struct figures *f)
{
	mm_memory_info((struct abi_memory *)f->to);
	f->used = sizeof(struct abi_memory);
}

static void fill_counters(struct figures *f)
{
	for (unsigned i = 0; i < COUNTER_COUNT && f->used < f->size; i++)
		f->used += (size_t)ksnprintf(f->to + f->used, f->size - f->used, "%s %llu\n",
					     counter_names[i],
					     (unsigned long long)counters[i]);
}

static void fill_params(struct figures *f)
{
	f->used = param_text(f->to, f->size);
}

static void fill_cmdline(struct figures *f)
{
	strlcpy(f->to, boot.cmdline, f->size);
	f->used = strlen(f->to) + 1;
}

static char task_state(const struct task *t, const struct thread *thread)
{
	if (t->mm == NULL || thread == NULL)
		return 'Z';
	if (thread->state != THREAD_SLEEPING)
		return 'R';
	return thread->sleep_killable ? 'S' : 'D';
}

static bool task_row(struct task *t, void *arg)
{
	struct figures *f = arg;
	struct abi_task_row *row = (struct abi_task_row *)(f->to + f->used);
	struct thread *thread = list_empty(&t->threads) ? NULL :
				list_first(&t->threads, struct thread, task_link);
	struct abi_usage u;

	if (f->size - f->used < sizeof(*row))
		return false;
	memset(row, 0, sizeof(*row));
	task_usage(t, &u);
	row->pid = t->pid;
	row->flags = t->flags;
	if (t->mm != NULL) {
		row->vm_pages = t->mm->total_pages;
		row->rss_pages = t->mm->rss;
		row->swap_pages = t->mm->swap_ptes;
		row->vmas = t->mm->vma_count;
	}
	row->user_ns = u.user_ns;
	row->system_ns = u.system_ns;
	row->faults = u.faults;
	row->major_faults = u.major_faults;
	row->state = task_state(t, thread);
	strlcpy(row->name, t->name, sizeof(row->name));
	if (thread != NULL && thread->state == THREAD_SLEEPING && thread->waiting_for != NULL)
		strlcpy(row->waiting_for, thread->waiting_for, sizeof(row->waiting_for));
	f->used += sizeof(*row);
	return true;
}

static void fill_tasks(struct figures *f)
{
	task_for_each(task_row, f);
}

static void fill_swaps(struct figures *f)
{
	f->used = sizeof(struct abi_swap_row) *
		  swap_rows((struct abi_swap_row *)f->to, f->size / sizeof(struct abi_swap_row));
}

static void fill_disks(struct figures *f)
{
	f->used = sizeof(struct abi_disk_row) *
		  block_rows((struct abi_disk_row *)f->to, f->size / sizeof(struct abi_disk_row));
}

/* Count who runs or wants to, and who waits for a disk. Kernel threads and the idle
 * thread are neither. */
static void cpu_count(struct thread *t, void *arg)
{
	struct abi_cpu *c = arg;

	if (t->task == NULL)
		return;
	if (t->state == THREAD_READY || t->state == THREAD_RUNNING)
		c->runnable++;
	else if (t->state == THREAD_SLEEPING && !t->sleep_killable)
		c->blocked++;
}

static void fill_cpu(struct figures *f)
{
	struct abi_cpu *c = (struct abi_cpu *)f->to;

	memset(c, 0, sizeof(*c));
	c->uptime_ns = clock_ns();
	c->idle_ns = idle_time_ns();
	c->kswapd_ns = kswapd_time_ns();
	c->interrupts = counters[COUNT_interrupts];
	c->context_switches = counters[COUNT_context_switches];
	c->user_ns = cpu_time_ns(CPU_USER);
	c->system_ns = cpu_time_ns(CPU_SYSTEM) - c->kswapd_ns;
	thread_for_each(cpu_count, c);
	f->used = sizeof(*c);
}

/* ---- Frames and slabs ---- */

struct frame_rows {
	struct abi_frame *row;
	uint32_t	  count;
	int32_t		  owner;
};

static void stack_frames(struct thread *t, void *arg)
{
	struct frame_rows *f = arg;
	pfn_t pfn;

	for (unsigned n = 0; n < KSTACK_BYTES / PAGE_SIZE; n++) {
		pfn = kstack_frame((void *)(uintptr_t)t->kstack_top, n);
		if (pfn == 0 || pfn >= f->count)
			continue;
		f->row[pfn].owner = t->task != NULL ? t->task->pid : FRAME_OF_KERNEL;
		f->row[pfn].what = t->tid;
	}
}

static void object_frames(struct object *o, void *arg)
{
	struct frame_rows *f = arg;

	frames_of_object(f->row, f->count, o, f->owner);
}

static bool handle_frames(struct task *t, void *arg)
{
	struct frame_rows *f = arg;

	f->owner = t->pid;
	handle_table_objects(&t->handles, object_frames, f);
	return true;
}

/* The block of frames that the rows lie in counts as free. */
static void forget_buffer(const struct frame_rows *f, const struct page *block)
{
	uint32_t frames = page_is(block, PG_BLOCK) ? 1u << block->private : 1;

	for (pfn_t pfn = page_pfn(block); frames-- > 0 && pfn < f->count; pfn++)
		f->row[pfn] = (struct abi_frame){ .state = FRAME_FREE };
}

/* The page tables tell most; stacks are their threads', and objects that nobody maps belong to
 * who has a handle, or to the kernel. */
static void fill_frames(struct figures *f)
{
	uint32_t room = f->size / sizeof(struct abi_frame);
	struct frame_rows rows = { .row = (struct abi_frame *)f->to,
				   .count = MIN(room, (uint32_t)page_count) };
	struct object *o;

	frames_describe(rows.row, rows.count);
	thread_for_each(stack_frames, &rows);
	task_for_each(handle_frames, &rows);
	for (unsigned n = 0; (o = object_boot_module(n)) != NULL; n++) {
		frames_of_object(rows.row, rows.count, o, FRAME_OF_KERNEL);
		kobject_drop(&o->kobject);
	}
	forget_buffer(&rows, address_page(f->to));
	f->used = rows.count * sizeof(*rows.row);
}

static void fill_slabs(struct figures *f)
{
	f->used = sizeof(struct abi_slab_row) *
		  slab_rows((struct abi_slab_row *)f->to, f->size / sizeof(struct abi_slab_row));
}

/* ---- The call ---- */

enum { FRAME_ROWS_MAX = (896 << 20) / PAGE_SIZE, SLAB_ROWS_MAX = 64 };
enum { TASK_ROWS_MAX = THREADS_MAX, DISK_ROWS_MAX = 32, TEXT_BYTES = 8192 };

/* An answer takes `least` bytes of the kernel's memory even if less is asked for, and
 * `most` at most. */
static const struct {
	void (*fill)(struct figures *f);
	size_t least, most;
} fillers[] = {
	[SYSINFO_MEMORY]   = { fill_memory, sizeof(struct abi_memory), 0 },
	[SYSINFO_COUNTERS] = { fill_counters, 1, TEXT_BYTES },
	[SYSINFO_TASKS]	   = { fill_tasks, 1, TASK_ROWS_MAX * sizeof(struct abi_task_row) },
	[SYSINFO_SWAPS]	   = { fill_swaps, 1, SWAP_AREAS_MAX * sizeof(struct abi_swap_row) },
	[SYSINFO_CPU]	   = { fill_cpu, sizeof(struct abi_cpu), 0 },
	[SYSINFO_DISKS]	   = { fill_disks, 1, DISK_ROWS_MAX * sizeof(struct abi_disk_row) },
	[SYSINFO_PARAMS]   = { fill_params, 1, TEXT_BYTES },
	[SYSINFO_CMDLINE]  = { fill_cmdline, 1, BOOT_CMDLINE_BYTES },
	[SYSINFO_FRAMES]   = { fill_frames, PAGE_SIZE, FRAME_ROWS_MAX * sizeof(struct abi_frame) },
	[SYSINFO_SLABS]	   = { fill_slabs, 1, SLAB_ROWS_MAX * sizeof(struct abi_slab_row) },
};

/* sysinfo(what, buffer, bytes) -> bytes filled: all, or what fits into `bytes`. -EINVAL for
 * an unknown `what`, -EFAULT, -ENOMEM. */
int32_t sys_sysinfo(const uint32_t *arg)
{
	struct figures f = { .used = 0 };
	int err;

	if (arg[0] >= ARRAY_LEN(fillers) || fillers[arg[0]].fill == NULL)
		return -EINVAL;
	f.size = MAX(fillers[arg[0]].least, MIN(fillers[arg[0]].most, (size_t)arg[2]));
	f.to = kmalloc(f.size, GFP_KERNEL);
	if (f.to == NULL)
		return -ENOMEM;
	fillers[arg[0]].fill(&f);
	f.used = MIN(f.used, MIN(f.size, (size_t)arg[2]));
	err = copy_to_user(arg[1], f.to, f.used);
	kfree(f.to);
	return err != OK ? err : (int)f.used;
}
