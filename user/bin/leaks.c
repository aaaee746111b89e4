/*
 * leaks COMMAND ARG...: does memory stay behind when a command has ended? Takes the table of
 * frames before and after, with caches dropped, and says for each kind of use and each owner
 * what was gained, frame by frame. What belongs to somebody who lives is named and no fault:
 * a server may keep what it will use again. What belongs to nobody is a leak: status 1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/bin/box.h"

enum {
	SLABS_MAX = 64, GROUPS_MAX = 2048, TASK_ROWS_MAX = 1024,
	FRAMES_TOLD = 8,		/* of each group */
	SETTLE_TRIES = 50, SETTLE_US = 20000,
};

/* All that is compared. Its memory is there, and touched, before the first one is taken. */
struct snapshot {
	struct abi_frame    *frame;
	struct abi_slab_row  slab[SLABS_MAX];
	struct abi_task_row *task;
	struct abi_memory    memory;
	unsigned frames, slabs, tasks;
	uint32_t swapped;		/* pages that somebody has in swap */
};

/* Frames of one use and owner; slabs go by their cache. */
struct group {
	uint8_t	 state;
	int32_t	 owner;
	uint32_t cache;
	unsigned before, after;
};

static const char *const state_names[FRAME_STATES] = {
	[FRAME_FREE] = "free", [FRAME_RESERVED] = "reserved", [FRAME_SLAB] = "slab",
	[FRAME_TABLE] = "page table", [FRAME_KSTACK] = "kernel stack", [FRAME_OBJECT] = "object",
	[FRAME_ANON] = "anonymous", [FRAME_CACHED] = "swap cache", [FRAME_HELD] = "held",
};

static struct snapshot snapshots[2];
static struct group groups[GROUPS_MAX];
static unsigned group_count;
static int too_many;			/* there were more groups than that */

/* ---- Snapshots ---- */

static int snapshot_prepare(struct snapshot *s, unsigned frames)
{
	s->frames = frames;
	s->frame = malloc(frames * sizeof(*s->frame));
	s->task = malloc(TASK_ROWS_MAX * sizeof(*s->task));
	if (!s->frame || !s->task)
		return -1;
	memset(s->frame, 1, frames * sizeof(*s->frame));
	memset(s->task, 1, TASK_ROWS_MAX * sizeof(*s->task));
	return 0;
}

static int snapshot_take(struct snapshot *s)
{
	int frames = box_sysinfo(SYSINFO_FRAMES, s->frame, s->frames * sizeof(*s->frame));
	int slabs = box_sysinfo(SYSINFO_SLABS, s->slab, sizeof(s->slab));
	int tasks = box_sysinfo(SYSINFO_TASKS, s->task, TASK_ROWS_MAX * sizeof(*s->task));

	if (frames < 0 || slabs < 0 || tasks < 0 ||
	    box_sysinfo(SYSINFO_MEMORY, &s->memory, sizeof(s->memory)) < 0)
		return -1;
	s->frames = (unsigned)frames / sizeof(*s->frame);
	s->slabs = (unsigned)slabs / sizeof(*s->slab);
	s->tasks = (unsigned)tasks / sizeof(*s->task);
	s->swapped = s->memory.objects_swapped;
	for (unsigned i = 0; i < s->tasks; i++)
		s->swapped += s->task[i].swap_pages;
	return 0;
}

/* Until two looks in a row see as much free memory: the dead are gone and caches dropped. */
static int settle(void)
{
	struct abi_memory m;
	uint32_t last = 0;

	for (int i = 0; i < SETTLE_TRIES; i++) {
		sys_machine(MACHINE_DROP_CACHES, 0);
		usleep(SETTLE_US);
		if (box_sysinfo(SYSINFO_MEMORY, &m, sizeof(m)) < 0)
			return -1;
		if (m.free == last)
			break;
		last = m.free;
	}
	return 0;
}

/* ---- Comparing ---- */

static uint32_t cache_of(const struct abi_frame *f)
{
	return f->state == FRAME_SLAB ? f->what >> 16 : 0;
}

/* The group of a frame; NULL: not compared (free, reserved, ours), or too many. */
static struct group *group_of(const struct abi_frame *f)
{
	struct group *g = groups;

	if (f->state == FRAME_FREE || f->state == FRAME_RESERVED || f->owner == getpid())
		return NULL;
	for (; g < groups + group_count; g++)
		if (g->state == f->state && g->owner == f->owner && g->cache == cache_of(f))
			return g;
	if (group_count == GROUPS_MAX) {
		too_many = 1;
		return NULL;
	}
	*g = (struct group){ .state = f->state, .owner = f->owner, .cache = cache_of(f) };
	group_count++;
	return g;
}

static void count_groups(const struct snapshot *before, const struct snapshot *after)
{
	struct group *g;

	for (unsigned i = 0; i < before->frames; i++)
		if ((g = group_of(&before->frame[i])) != NULL)
			g->before++;
	for (unsigned i = 0; i < after->frames; i++)
		if ((g = group_of(&after->frame[i])) != NULL)
			g->after++;
}

static const char *owner_name(const struct snapshot *s, int32_t owner)
{
	if (owner == FRAME_OF_NOBODY)
		return "nobody";
	if (owner < 0)
		return owner == FRAME_OF_SPACE ? "a program being loaded" : "the kernel";
	for (unsigned i = 0; i < s->tasks; i++)
		if (s->task[i].pid == owner)
			return s->task[i].name;
	return "a task that is gone";
}

/* What `what` means, where it tells something. */
static void print_what(const struct abi_frame *f)
{
	static const char *const meaning[FRAME_STATES] = {
		[FRAME_SLAB] = "objects", [FRAME_TABLE] = "for address", [FRAME_KSTACK] = "thread",
		[FRAME_OBJECT] = "page", [FRAME_ANON] = "at address", [FRAME_CACHED] = "entry",
		[FRAME_HELD] = "order",
	};

	printf(", %s %#x", meaning[f->state],
	       (unsigned)(f->state == FRAME_SLAB ? f->what & 0xffff : f->what));
}

/* The frames that are in `g` now and weren't before. */
static void print_frames(const struct group *g, const struct snapshot *before,
			 const struct snapshot *after)
{
	unsigned told = 0;

	for (unsigned i = 0; i < after->frames && told < FRAMES_TOLD; i++) {
		if (group_of(&after->frame[i]) != g || group_of(&before->frame[i]) == g)
			continue;
		printf("  frame %#x", i);
		print_what(&after->frame[i]);
		putchar('\n');
		told++;
	}
}

/* All groups that grew. Returns how many frames are nobody's; *gained: of all. */
static unsigned report_frames(const struct snapshot *before, const struct snapshot *after,
			      unsigned *gained)
{
	unsigned lost = 0;

	for (const struct group *g = groups; g < groups + group_count; g++) {
		if (g->after <= g->before)
			continue;
		*gained += g->after - g->before;
		if (g->owner == FRAME_OF_NOBODY)
			lost += g->after - g->before;
		printf("%s +%u: %s", state_names[g->state], g->after - g->before,
		       g->state == FRAME_SLAB ? after->slab[g->cache].name :
		       owner_name(after, g->owner));
		if (g->owner > 0)
			printf(" (%d)", (int)g->owner);
		putchar('\n');
		print_frames(g, before, after);
	}
	return lost;
}

/* A living task needs objects of the kernel's; if as few live as before, more objects are
 * nobody's. Caches keep their order, new ones come last. */
static unsigned report_objects(const struct snapshot *before, const struct snapshot *after)
{
	unsigned lost = 0;

	for (unsigned i = 0; i < after->slabs; i++) {
		uint32_t was = i < before->slabs ? before->slab[i].used : 0;

		if (after->slab[i].used <= was)
			continue;
		printf("slab objects +%u: %s\n", (unsigned)(after->slab[i].used - was),
		       after->slab[i].name);
		lost += after->slab[i].used - was;
	}
	return after->tasks > before->tasks ? 0 : lost;
}

/* With everything back in memory no slot is in use. */
static unsigned report_slots(const struct snapshot *before, const struct snapshot *after)
{
	uint32_t was = before->memory.swap_total - before->memory.swap_free;
	uint32_t is = after->memory.swap_total - after->memory.swap_free;

	if (after->swapped > 0 || before->swapped > 0) {
		printf("slots: can't tell, %u pages are in swap and don't fit into memory\n",
		       (unsigned)(after->swapped + before->swapped));
		return 0;
	}
	if (is <= was)
		return 0;
	printf("slots +%u: nobody\n", (unsigned)(is - was));
	return is - was;
}

/* Tell what was gained; returns the command's status. */
static int report(const struct snapshot *before, const struct snapshot *after)
{
	unsigned gained = 0, lost, objects, slots;

	group_count = 0;
	memset(groups, 0, sizeof(groups));
	count_groups(before, after);
	if (too_many) {
		printf("leaks: can't tell: frames have more than %d uses and owners\n", GROUPS_MAX);
		return 2;
	}
	lost = report_frames(before, after, &gained);
	objects = report_objects(before, after);
	slots = report_slots(before, after);
	if (after->tasks > before->tasks)
		printf("%u more tasks live\n", after->tasks - before->tasks);
	printf("leaks: %u frames gained; nobody's: %u frames, %u slab objects, %u slots\n", gained,
	       lost, objects, slots);
	return lost + objects + slots > 0;
}

/* ---- The command ---- */

/* How the command ended, unless it was well. */
static void print_end(const char *name, int status)
{
	if (WIFSIGNALED(status))
		printf("%s: ended by signal %d\n", name, WTERMSIG(status));
	else if (status != 0)
		printf("%s: status %d\n", name, WEXITSTATUS(status));
}

static void run(char **argv)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		box_error(argv[0], errno);
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		box_error(argv[0], errno);
	else
		print_end(argv[0], status);
}

/* Status 0: nothing is lost; 1: something is; 2: couldn't tell. */
int box_leaks(int argc, char **argv)
{
	struct abi_memory m;

	if (argc < 2)
		return box_usage("COMMAND ARG...");
	if (box_sysinfo(SYSINFO_MEMORY, &m, sizeof(m)) < 0 ||
	    snapshot_prepare(&snapshots[0], m.frames) < 0 ||
	    snapshot_prepare(&snapshots[1], m.frames) < 0)
		return box_error("snapshots", ENOMEM) + 1;
	memset(groups, 1, sizeof(groups));
	puts("leaks:");			/* stdio has its buffer now */
	if (settle() < 0 || snapshot_take(&snapshots[0]) < 0)
		return 2;
	run(argv + 1);
	if (settle() < 0 || snapshot_take(&snapshots[1]) < 0)
		return 2;
	return report(&snapshots[0], &snapshots[1]);
}
