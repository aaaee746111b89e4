/*
 * qsbench -n ELEMS -p PROCS -s SEED: the sort that the threads of 2001 measured
 * (docs/history.md 10.1). Each of PROCS children fills ELEMS ints with random numbers,
 * sorts them, reads them through once. Prints nothing on success.
 *
 * Where the parts of a quicksort end, and so how much is swapped, is up to the numbers: they are
 * those of the C library of the time, so that a seed from the thread is the thread's sort.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#define VERSION "0.93-clockhand"

/* Short stretches are left to insertion sort. */
enum { SHORT_RUN = 12 };

/* rand() of the GNU C library since 1991 (its random_r.c, TYPE_3): an additive feedback generator,
 * r[i] = r[i-3] + r[i-31], whose first 31 values are a linear congruence of the seed and whose first
 * 310 results are thrown away. */
enum { RANDOM_DEGREE = 31, RANDOM_TAP = 3, RANDOM_DISCARD = 310 };

struct random {
	uint32_t r[RANDOM_DEGREE];
	unsigned next;			/* the place of r[i-31], which r[i] takes */
};

static int next_random(struct random *g)
{
	uint32_t *r = &g->r[g->next];

	*r += g->r[(g->next + RANDOM_DEGREE - RANDOM_TAP) % RANDOM_DEGREE];
	g->next = (g->next + 1) % RANDOM_DEGREE;
	return (int)(*r >> 1);
}

static void seed_random(struct random *g, uint32_t seed)
{
	int32_t value = seed ? (int32_t)seed : 1;

	for (unsigned i = 0; i < RANDOM_DEGREE; i++) {
		g->r[i] = (uint32_t)value;
		value = (int32_t)(16807LL * value % INT32_MAX);
		if (value < 0)
			value += INT32_MAX;
	}
	g->next = RANDOM_TAP;
	for (unsigned i = 0; i < RANDOM_DISCARD; i++)
		(void)next_random(g);
}

static inline void swap(int *a, int *b)
{
	int t = *a;

	*a = *b;
	*b = t;
}

/* The middle one of first, middle and last element: the pivot's value. */
static inline int pivot_value(int *low, int *high)
{
	int a = *low, b = low[(high - low) / 2], c = *high;

	if (a < b)
		return b < c ? b : a < c ? c : a;
	return a < c ? a : b < c ? c : b;
}

static void insertion_sort(int *low, int *high)
{
	for (int *i = low + 1; i <= high; i++) {
		int value = *i, *j = i;

		for (; j > low && j[-1] > value; j--)
			*j = j[-1];
		*j = value;
	}
}

/* Quicksort of [low, high], both inside: two pointers towards each other, then the left part, then
 * the right one. */
static void quicksort(int *low, int *high)
{
	while (high - low > SHORT_RUN) {
		int *i = low, *j = high, pivot = pivot_value(i, j);

		do {
			while (*i < pivot)
				i++;
			while (pivot < *j)
				j--;
			if (i <= j)
				swap(i++, j--);
		} while (i <= j);
		quicksort(low, j);
		low = i;
	}
	insertion_sort(low, high);
}

/* One child's work. Its exit status. */
static int bench(size_t n, unsigned seed)
{
	int *a = malloc(n * sizeof(*a));
	unsigned sum = 0, wrong = 0;
	struct random g;

	if (!a) {
		fprintf(stderr, "qsbench: out of memory\n");
		return 1;
	}
	seed_random(&g, seed);
	for (size_t i = 0; i < n; i++) {
		a[i] = next_random(&g);
		sum += (unsigned)a[i];
	}
	quicksort(a, a + n - 1);
	for (size_t i = 0; i + 1 < n; i++) {
		wrong += a[i] > a[i + 1];
		sum -= (unsigned)a[i];
	}
	sum -= (unsigned)a[n - 1];
	free(a);
	if (wrong)
		fprintf(stderr, "WARNING: the array is not sorted: %u places\n", wrong);
	if (sum)
		fprintf(stderr, "WARNING: the array is not what it was\n");
	return wrong != 0 || sum != 0;
}

/* Wait for all children; tell of those that failed. */
static int gather(unsigned procs)
{
	int bad = 0, status;

	for (unsigned i = 0; i < procs; i++) {
		pid_t pid = wait(&status);

		if (pid < 0)
			return 1;
		if (WIFSIGNALED(status))
			fprintf(stderr, "qsbench: child %d: %s\n", (int)pid, strsignal(WTERMSIG(status)));
		bad |= status != 0;
	}
	return bad;
}

static int usage(void)
{
	fprintf(stderr, "usage: qsbench [-n ELEMS] [-p PROCS] [-s SEED] [-V] [-h]\n");
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long n = 1000000, procs = 1, seed = 1, started = 0;
	int c, bad;

	while ((c = getopt(argc, argv, "n:p:s:Vh")) != -1) {
		unsigned long value = optarg ? strtoul(optarg, NULL, 10) : 0;

		switch (c) {
		case 'n': n = value; break;
		case 'p': procs = value; break;
		case 's': seed = value; break;
		case 'V': puts("qsbench " VERSION); return 0;
		case 'h': usage(); return 0;
		default: return usage();
		}
	}
	if (n == 0 || procs == 0 || n > 0x7fffffffu / sizeof(int) || optind < argc)
		return usage();
	for (; started < procs; started++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(bench(n, (unsigned)seed));
		if (pid < 0) {
			perror("qsbench: fork");
			break;
		}
	}
	bad = gather((unsigned)started);
	return bad || started < procs;
}
