/*
 * qsbench -n ELEMS -p PROCS -s SEED: the sort that the threads of 2001 measured
 * (docs/history.md 10.1). Each of PROCS children fills ELEMS ints with rand(),
 * sorts them, reads them through once. Prints nothing on success.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#define VERSION "0.93-clockhand"

/* Short stretches are left to insertion sort. */
enum { SHORT_RUN = 12, DEPTH_MAX = 64 };

struct span {
	int *low, *high;		/* [low, high], both inside */
};

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

/* Quicksort: two pointers towards each other, and the larger part put off, so that
 * at most log2(n) spans wait. */
static void quicksort(int *a, size_t n)
{
	struct span waiting[DEPTH_MAX], s = { a, a + n - 1 };
	unsigned top = 0;

	for (;;) {
		while (s.high - s.low > SHORT_RUN) {
			int *i = s.low, *j = s.high, pivot = pivot_value(i, j);

			do {
				while (*i < pivot)
					i++;
				while (pivot < *j)
					j--;
				if (i <= j)
					swap(i++, j--);
			} while (i <= j);
			if (j - s.low < s.high - i) {
				waiting[top++] = (struct span){ i, s.high };
				s.high = j;
			} else {
				waiting[top++] = (struct span){ s.low, j };
				s.low = i;
			}
		}
		insertion_sort(s.low, s.high);
		if (top == 0)
			return;
		s = waiting[--top];
	}
}

/* One child's work. Its exit status. */
static int bench(size_t n, unsigned seed)
{
	int *a = malloc(n * sizeof(*a));
	unsigned sum = 0, wrong = 0;

	if (!a) {
		fprintf(stderr, "qsbench: out of memory\n");
		return 1;
	}
	srand(seed);
	for (size_t i = 0; i < n; i++) {
		a[i] = rand();
		sum += (unsigned)a[i];
	}
	quicksort(a, n);
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
