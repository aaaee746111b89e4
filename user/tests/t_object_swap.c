/*
 * Memory that is shared, and objects that nobody maps, beyond what RAM holds: contents against a
 * model, between processes, by page faults and by object_read and object_write; what fork,
 * exec, kill, swapoff and the end of an object do with pages that are on disk.
 *
 * `object` and `shared`, perhaps with a size in MiB, only say what came back: for disks with
 * errors, or that are full.
 *
 * rmap: kept
 * run: --ram 12M --swap 48M --timeout 200
 * rmap: kept
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { CHILDREN = 3, ROUNDS = 4000, SLACK = 24, PAGES_PER_MIB = 256 };

static char *shared;			/* anonymous shared memory */
static uint32_t pages;			/* ... of so many */

static char *map_shared(uint32_t count)
{
	char *p = mmap(NULL, count * TAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED) {
		printf("Bail out! no shared memory of %u pages\n", (unsigned)count);
		exit(1);
	}
	return p;
}

static void push_out(void)
{
	tap_pressure(tap_ram_pages() / 4 * 5);
	tap_pressure(tap_ram_pages() / 4 * 5);
}

static void fill(char *p, uint32_t count, uint32_t seed)
{
	for (uint32_t i = 0; i < count; i++)
		tap_fill(p + i * TAP_PAGE, seed + i);
}

static int intact(const char *p, uint32_t count, uint32_t seed)
{
	for (uint32_t i = 0; i < count; i++)
		if (!tap_intact(p + i * TAP_PAGE, seed + i)) {
			printf("# page %u of %u\n", (unsigned)i, (unsigned)count);
			return 0;
		}
	return 1;
}

/* Run fn(n) in CHILDREN processes at once; do all end with status 0? */
static int in_children(int (*fn)(unsigned n))
{
	int status, good = 1;
	pid_t pid[CHILDREN];

	fflush(stdout);
	for (unsigned n = 0; n < CHILDREN; n++) {
		pid[n] = fork();
		if (pid[n] == 0)
			_exit(fn(n));
	}
	for (unsigned n = 0; n < CHILDREN; n++)
		good &= waitpid(pid[n], &status, 0) == pid[n] && status == 0;
	return good;
}

/* ---- Shared memory ---- */

/* Child n fills every CHILDREN-th page. */
static int fill_share(unsigned n)
{
	for (uint32_t i = n; i < pages; i += CHILDREN)
		tap_fill(shared + i * TAP_PAGE, i);
	return 0;
}

static int check_all(unsigned n)
{
	(void)n;
	return !intact(shared, pages, 0);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Child n adds to its own word of pages by chance; what must be there is known by doing the
 * same on a model of its own. */
static int add_by_chance(unsigned n)
{
	uint8_t *model = calloc(pages, 1);
	uint32_t state = n + 1;

	for (unsigned i = 0; model && i < ROUNDS; i++) {
		uint32_t page = next_random(&state) % pages;
		uint32_t *word = (uint32_t *)(shared + page * TAP_PAGE) + 16 * n;

		if (*word != model[page])
			return 1;
		++*word;
		model[page]++;
	}
	for (uint32_t i = 0; model && i < pages; i++)
		if (((uint32_t *)(shared + i * TAP_PAGE))[16 * n] != model[i])
			return 1;
	return !model;
}

static void sharing(void)
{
	tap_case(in_children(fill_share), "object-share-01", "three processes fill shared memory larger than RAM");
	tap_case(tap_memory().objects_swapped > pages / 8, "object-share-02", "a good part of it is in swap");
	tap_case(intact(shared, pages, 0), "object-share-03", "their parent finds every byte");
	tap_case(in_children(check_all), "object-share-04", "and so do three at once, who ask for the same pages");
	memset(shared, 0, pages * TAP_PAGE);
	tap_case(in_children(add_by_chance), "object-share-05", "three write to words of the same pages by chance, none is lost");
}

/* ---- Faults ---- */

static void faulting(void)
{
	struct abi_usage before, after;
	uint64_t ahead;

	fill(shared, pages, 7);
	push_out();
	sys_task_usage(&before);
	ahead = tap_counter("swap_readahead");
	tap_case(intact(shared, 64, 7), "object-fault-01", "pages on disk come back by faults");
	sys_task_usage(&after);
	tap_case(after.major_faults > before.major_faults, "object-fault-02", "they are major faults of the process");
	tap_case(tap_counter("swap_readahead") > ahead && after.major_faults < before.major_faults + 48,
		 "object-fault-03", "but not one for each page: neighbours are read ahead");
}

/* What madvise says of shared memory is said of its pages, wherever they are. */
static void advising(void)
{
	enum { FEW = 128 };
	struct abi_memory before, after;

	fill(shared, FEW, 7);
	before = tap_memory();
	tap_equal(madvise(shared, FEW * TAP_PAGE, MADV_PAGEOUT), 0, "object-advise-01", "shared pages aren't needed soon");
	after = tap_memory();
	tap_case(after.objects_swapped > before.objects_swapped + FEW / 2, "object-advise-02", "they go to swap at once");
	push_out();
	before = tap_memory();
	tap_equal(madvise(shared, FEW * TAP_PAGE, MADV_WILLNEED), 0, "object-advise-03", "they will be needed");
	after = tap_memory();
	tap_case(after.swap_cached > before.swap_cached + FEW / 2, "object-advise-04", "they are on their way into memory");
	tap_case(intact(shared, FEW, 7), "object-advise-05", "whole");
}

/* A private mapping of an object sees its pages and keeps what it writes to itself. */
static void privately(void)
{
	enum { FEW = 64 };
	int object = sys_object_create(FEW);
	static char page[TAP_PAGE];
	char *p;

	for (unsigned i = 0; i < FEW; i++) {
		tap_fill(page, 100 + i);
		sys_object_write(object, i * TAP_PAGE, page, TAP_PAGE);
	}
	push_out();
	p = mmap(NULL, FEW * TAP_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, object, 0);
	tap_case(p != MAP_FAILED && intact(p, FEW / 2, 100), "object-private-01", "pages on disk through a private mapping");
	fill(p, FEW / 2, 900);
	push_out();
	tap_case(intact(p, FEW / 2, 900) && intact(p + FEW / 2 * TAP_PAGE, FEW / 2, 100 + FEW / 2),
		 "object-private-02", "after writing, its own and the object's, swapped once more");
	sys_object_read(object, 0, page, TAP_PAGE);
	tap_case(tap_intact(page, 100), "object-private-03", "the object keeps its own");
	munmap(p, FEW * TAP_PAGE);
	sys_handle_close(object);
}

/* ---- Objects without a mapping ---- */

static int object_fill(int object, uint32_t count, uint32_t seed)
{
	static char page[TAP_PAGE];

	for (uint32_t i = 0; i < count; i++) {
		tap_fill(page, seed + i);
		if (sys_object_write(object, i * TAP_PAGE, page, TAP_PAGE) != (int)TAP_PAGE)
			return 0;
	}
	return 1;
}

/* How many pages are as they were written; *failed: how many can't be read. */
static uint32_t object_good(int object, uint32_t count, uint32_t seed, uint32_t *failed)
{
	static char page[TAP_PAGE];
	uint32_t good = 0;

	*failed = 0;
	for (uint32_t i = 0; i < count; i++) {
		int n = sys_object_read(object, i * TAP_PAGE, page, TAP_PAGE);

		good += n == (int)TAP_PAGE && tap_intact(page, seed + i);
		*failed += n == -EIO;
	}
	return good;
}

static void by_handle(void)
{
	uint32_t count = tap_ram_pages() / 4 * 5, failed;
	int object = sys_object_create(count);
	struct abi_memory before, after;
	int is_gone = 0;
	uint64_t reads;

	tap_case(object_fill(object, count, 3), "object-handle-01", "an object larger than RAM is written through its handle");
	tap_equal(object_good(object, count, 3, &failed), count, "object-handle-02", "and read");
	reads = tap_counter("pswpin");
	before = tap_memory();
	sys_handle_close(object);
	tap_case(before.objects_swapped > count / 8, "object-handle-03", "much of it is in swap");
	for (int i = 0; i < 20 && !is_gone; i++) {	/* what is on its way to the disk goes a little later */
		after = tap_memory();
		is_gone = after.swap_free + SLACK > before.swap_free + before.objects_swapped &&
			  after.objects_swapped < SLACK && after.objects < SLACK + before.objects - count / 2;
		if (!is_gone)
			usleep(50000);
	}
	tap_case(is_gone, "object-handle-04", "with the last handle its frames and slots are free");
	tap_case(tap_counter("pswpin") < reads + count / 16, "object-handle-05", "without reading them");
}

/* ---- swapoff ---- */

static void swapping_off(void)
{
	uint32_t count = tap_ram_pages() / 4, failed;
	int object = sys_object_create(count);
	char *p = map_shared(count);

	object_fill(object, count, 11);
	fill(p, count, 70000);
	push_out();
	tap_case(tap_memory().objects_swapped > count, "object-swapoff-01", "an object and shared memory are in swap");
	tap_equal(sys_swapoff("hda1"), 0, "object-swapoff-02", "swapoff brings them back, mapped or not");
	tap_case(tap_memory().objects_swapped == 0 && tap_memory().swap_total == 0, "object-swapoff-03", "nothing is left there");
	tap_equal(object_good(object, count, 11, &failed), count, "object-swapoff-04", "the object is whole");
	tap_case(intact(p, count, 70000), "object-swapoff-05", "and so is the shared memory");
	tap_equal(sys_swapon("hda1", -1), 0, "object-swapoff-06", "swapon");
	push_out();
	tap_case(tap_memory().objects_swapped > count, "object-swapoff-07", "they go out again");
	munmap(p, count * TAP_PAGE);
	sys_machine(MACHINE_DROP_CACHES, 0);
	tap_equal(tap_memory().objects_swapped, 0, "object-drop-01", "dropping caches brings objects back, if memory allows");
	tap_equal(object_good(object, count, 11, &failed), count, "object-drop-02", "whole");
	sys_handle_close(object);
}

/* ---- Kill ---- */

/* Read pages by chance, for ever. */
static void read_for_ever(void)
{
	uint32_t state = 5;

	for (;;)
		*(volatile char *)(shared + next_random(&state) % pages * TAP_PAGE);
}

/* Processes that wait for pages are killed in the middle; whoever lives finds all as it was. */
static void killing(void)
{
	int status, good = 1;

	fill(shared, pages, 40);
	for (unsigned i = 0; i < 6; i++) {
		pid_t pid[2];

		fflush(stdout);
		for (unsigned n = 0; n < 2; n++) {
			pid[n] = fork();
			if (pid[n] == 0)
				read_for_ever();
		}
		usleep(100000 + 30000 * i);
		for (unsigned n = 0; n < 2; n++) {
			kill(pid[n], SIGKILL);
			good &= waitpid(pid[n], &status, 0) == pid[n] && status == TAP_KILLED(SIGKILL);
		}
	}
	tap_case(good, "object-kill-01", "who waits for a page of an object can be killed");
	tap_case(intact(shared, pages, 40), "object-kill-02", "the others find every byte");
}

/* ---- Disks with errors ---- */

static void read_shared(void *arg)
{
	_exit(!intact(shared, pages, *(uint32_t *)arg));
}

/* An object by its handle: how many pages can't be read, and how many are wrong. */
static int try_object(uint32_t count)
{
	uint32_t failed, good;
	int object = sys_object_create(count);

	object_fill(object, count, 1);
	good = object_good(object, count, 1, &failed);
	printf("%u lost, %u wrong\n", (unsigned)failed, (unsigned)(count - good - failed));
	return 0;
}

/* Shared memory: how a child ends that reads it. */
static int try_shared(uint32_t count)
{
	uint32_t seed = 9;

	shared = map_shared(pages = count);
	fill(shared, pages, seed);
	printf("reader: status %d\n", tap_child(read_shared, &seed));
	return 0;
}

int main(int argc, char **argv)
{
	pages = tap_ram_pages() / 4 * 5;
	if (argc > 2)
		pages = (uint32_t)atoi(argv[2]) * PAGES_PER_MIB;
	if (argc > 1)
		return !strcmp(argv[1], "object") ? try_object(pages) : try_shared(pages);
	shared = map_shared(pages);
	sharing();
	faulting();
	advising();
	privately();
	killing();
	munmap(shared, pages * TAP_PAGE);
	by_handle();
	swapping_off();
	return tap_done();
}
