/*
 * stress: random calls of the mmap family by many processes on a machine that swaps, with a
 * model of what every byte must be (user/tests/stress/model.h).
 *
 *   stress [-s SEED] [-n STEPS] [-p PROCESSES] [-r SEEDS] [-l]
 *   stress -c SHARERS	so many children share pages that are in swap, and each sees its own
 *
 * -l: the disk loses pages (so nobody forks: a child's own memory isn't locked at once). They
 * read as zeros or are told of by SIGBUS; that a page of somebody else's turns up is a fault
 * still.
 *
 * The first PROCESSES are children of this program; they fork further ones. The same seed
 * draws the same operations in each process; how processes interleave is the machine's
 * matter. After each seed everything is unmapped and the audit runs. Status 0: all was well.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/stress/guest.h"
#include "user/tests/stress/model.h"

enum { PROCESSES_MAX = 300, PROCESSES = 8, STEPS = 2000, SHARED_PAGES = 24, CHECK_EVERY = 200 };

static struct options {
	uint32_t seed, steps, processes, seeds, sharers, lossy;
} options = { .seed = 1, .steps = STEPS, .processes = PROCESSES, .seeds = 1 };

static struct process process;

static int usage(void)
{
	fprintf(stderr, "usage: stress [-s SEED] [-n STEPS] [-p 1 to 300] [-r SEEDS] [-l] | -c SHARERS\n");
	return 2;
}

static int read_options(int argc, char **argv)
{
	int letter;

	while ((letter = getopt(argc, argv, "s:n:p:r:c:l")) != -1) {
		uint32_t number = !optarg ? 0 : (uint32_t)strtoul(optarg, NULL, 0);

		switch (letter) {
		case 's': options.seed = number; break;
		case 'n': options.steps = number; break;
		case 'p': options.processes = number; break;
		case 'r': options.seeds = number; break;
		case 'c': options.sharers = number; break;
		case 'l': options.lossy = 1; break;
		default: return 0;
		}
	}
	return optind == argc && options.processes >= 1 && options.processes <= PROCESSES_MAX &&
	       options.sharers <= PROCESSES_MAX;
}

/* ---- One seed ---- */

/* One of the first processes: its steps, then everything is compared once more. */
static void work(uint32_t seed, uint32_t first, uint32_t end)
{
	guest_indices(first, end);
	process_init(&process, seed, first);
	if (options.lossy)
		guest_lossy();
	while (process.step < options.steps) {
		process_step(&process);
		if (process.step % CHECK_EVERY == 0)
			process_check(&process);
	}
	process_check(&process);
	guest_wait_children();
	process_end(&process);
	guest_add_done(&process);
	_exit(0);
}

/* Pushes the others out, again and again. */
static pid_t start_ballast(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	guest_lossy();
	for (;;)
		guest_push_out();
}

static int wait_all(uint32_t processes, pid_t ballast)
{
	int bad = 0, status;

	for (pid_t pid; processes > 0 && (pid = wait(&status)) > 0; processes -= pid != ballast) {
		if (guest_ended_well(status) || pid == ballast)
			continue;
		bad++;
		printf("# process of pid %d ended with status %#x\n", (int)pid, status);
	}
	return bad + (processes != 0);
}

static int run_seed(uint32_t seed)
{
	uint32_t span = (INDEX_MAX - 1) / options.processes, started = 0;
	pid_t ballast = 0;
	int bad;

	for (; started < options.processes; started++) {
		pid_t pid = fork();

		if (pid == 0)
			work(seed, 1 + started * span, 1 + (started + 1) * span);
		if (pid < 0)
			break;
	}
	if (options.lossy)
		ballast = start_ballast();
	bad = wait_all(started, ballast) + (started < options.processes);
	if (ballast > 0 && kill(ballast, SIGKILL) == 0)
		waitpid(ballast, NULL, 0);
	bad += guest_audit() != 0;
	if (bad) {
		printf("# seed %u: %d faults; steps reached:", (unsigned)seed, bad);
		guest_print_steps();
	}
	return bad;
}

/* ---- More sharers than a byte counts ---- */

/* Child `n`: everything is as the parent left it; every fourth then writes its own. */
static void share(char *pages, uint32_t n)
{
	guest_wait_for_word(1);
	for (unsigned i = 0; i < SHARED_PAGES; i++) {
		uint32_t *w = (uint32_t *)(pages + i * STRESS_PAGE);

		if (w[0] != 7000 + i || w[1023] != 7000 + i)
			_exit(1);
		if (n % 4 == 0)
			w[0] = w[1023] = n << 16 | i;
	}
	guest_wait_for_word(2);
	for (unsigned i = 0; i < SHARED_PAGES; i++) {
		uint32_t *w = (uint32_t *)(pages + i * STRESS_PAGE);
		uint32_t expected = n % 4 ? 7000 + i : n << 16 | i;

		if (w[0] != expected || w[1023] != expected)
			_exit(2);
	}
	_exit(0);
}

static int run_share(void)
{
	char *pages = mmap(NULL, SHARED_PAGES * STRESS_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t started = 0;
	int bad;

	for (unsigned i = 0; i < SHARED_PAGES; i++) {
		uint32_t *w = (uint32_t *)(pages + i * STRESS_PAGE);

		w[0] = w[1023] = 7000 + i;
	}
	for (; started < options.sharers; started++) {
		pid_t pid = fork();

		if (pid == 0)
			share(pages, started);
		if (pid < 0) {
			perror("# fork");
			break;
		}
	}
	guest_push_out();
	bad = guest_audit() != 0;
	guest_set_word(1);
	sleep(1);
	guest_push_out();
	bad += guest_audit() != 0;
	guest_set_word(2);
	bad += wait_all(started, 0) + (started < options.sharers);
	munmap(pages, SHARED_PAGES * STRESS_PAGE);
	return bad + (guest_audit() != 0);
}

int main(int argc, char **argv)
{
	int bad = 0;

	if (!read_options(argc, argv))
		return usage();
	guest_start();
	if (options.lossy)
		guest_lossy();
	if (options.sharers)
		bad = run_share();
	for (uint32_t i = 0; i < options.seeds && !options.sharers && !bad; i++)
		bad = run_seed(options.seed + i);
	guest_print_done();
	printf("%s: seeds %u to %u, %u steps, %u processes\n", bad ? "WRONG" : "well",
	       (unsigned)options.seed, (unsigned)(options.seed + options.seeds - 1),
	       (unsigned)options.steps, (unsigned)options.processes);
	return bad != 0;
}
