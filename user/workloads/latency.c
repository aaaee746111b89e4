/*
 * latency [-p PAGES] [-e MS] [-s SECONDS] [COMMAND ARG...]: how long somebody who types would wait
 * (row Z6 of docs/replays.md).
 *
 * Wakes every MS milliseconds (100), writes to each of its PAGES pages (64), and notes how late it
 * woke and how long the writing took. Ends when COMMAND has ended, after SECONDS without one; then
 * it prints the least, the median, what 99 % stay within and the most, of both and of their sum.
 * Its exit status is COMMAND's.
 *
 * Its notes are locked in memory: taking them may not disturb what is measured. Its pages, stack and data
 * are not, as those of an editor wouldn't be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>

enum { WAKES_MAX = 36000, EVERY_MS = 100, PAGES = 64, PAGES_MAX = 65536, NS_PER_US = 1000, US_PER_MS = 1000,
       STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

static struct notes {
	uint32_t late[WAKES_MAX], touch[WAKES_MAX], both[WAKES_MAX];	/* microseconds */
} *notes;
static unsigned wakes;

static unsigned pages = PAGES, every_ms = EVERY_MS, seconds;

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "latency: out of memory\n");
		exit(1);
	}
	return p;
}

static void touch(volatile char *at)
{
	for (unsigned i = 0; i < pages; i++)
		at[i * CLOCKHAND_PAGE]++;
}

/* Sleep until `due`, touch, note. Returns when to wake next: the next beat that isn't over yet. */
static uint64_t beat(uint64_t due, volatile char *at)
{
	uint64_t period = (uint64_t)every_ms * US_PER_MS * NS_PER_US, now = clock_ns(), woke;

	if (due > now)
		usleep((useconds_t)((due - now) / NS_PER_US));
	woke = clock_ns();
	touch(at);
	now = clock_ns();
	if (woke < due)
		woke = due;
	if (wakes < WAKES_MAX) {
		notes->late[wakes] = (uint32_t)((woke - due) / NS_PER_US);
		notes->touch[wakes] = (uint32_t)((now - woke) / NS_PER_US);
		notes->both[wakes] = (uint32_t)((now - due) / NS_PER_US);
		wakes++;
	}
	do
		due += period;
	while (due < now);
	return due;
}

/* Beat until the child has ended, or for `seconds` if there is none. The child's status. */
static int measure(pid_t child, volatile char *at)
{
	uint64_t start = clock_ns(), due = start, end = start + (uint64_t)seconds * 1000000000u;
	int status = 0;

	while (child ? waitpid(child, &status, WNOHANG) == 0 : due < end)
		due = beat(due, at);
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void print_ms(const char *name, uint32_t us)
{
	printf(" %s %u.%03u", name, (unsigned)us / US_PER_MS, (unsigned)us % US_PER_MS);
}

static void print(const char *what, uint32_t *us)
{
	qsort(us, wakes, sizeof(*us), order);
	printf("%s ms:", what);
	print_ms("min", us[0]);
	print_ms("median", us[wakes / 2]);
	print_ms("99%", us[wakes * 99u / 100u]);
	print_ms("max", us[wakes - 1]);
	putchar('\n');
}

static pid_t start(char **argv)
{
	pid_t child = fork();

	if (child == 0) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(STATUS_NOT_FOUND);
	}
	if (child < 0) {
		perror("latency: fork");
		exit(1);
	}
	return child;
}

static int usage(void)
{
	fprintf(stderr, "usage: latency [-p PAGES] [-e MS] [-s SECONDS] [COMMAND ARG...]\n");
	return 2;
}

/* 0, or -1 if an option is wrong. What follows them is at argv[optind]. */
static int options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+p:e:s:")) != -1) {
		unsigned value = optarg ? (unsigned)strtoul(optarg, NULL, 10) : 0;

		switch (c) {
		case 'p': pages = value; break;
		case 'e': every_ms = value; break;
		case 's': seconds = value; break;
		default: return -1;
		}
	}
	if (pages < 1 || pages > PAGES_MAX || every_ms < 1 || every_ms > 1000000)
		return -1;
	return (optind < argc) != (seconds > 0) ? 0 : -1;	/* one of them, not both */
}

int main(int argc, char **argv)
{
	volatile char *at;
	int status;

	if (options(argc, argv) < 0)
		return usage();
	notes = map(sizeof(*notes));
	if (mlock(notes, sizeof(*notes)) < 0) {
		perror("latency: mlock");
		return 1;
	}
	at = map(pages * CLOCKHAND_PAGE);
	touch(at);
	status = measure(optind < argc ? start(argv + optind) : 0, at);
	if (wakes == 0)
		return status;
	printf("latency: %u wakes every %u ms, %u pages\n", wakes, every_ms, pages);
	print("late", notes->late);
	print("touch", notes->touch);
	print("both", notes->both);
	return status;
}
