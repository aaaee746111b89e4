/*
 * hogmem MB [PASSES]: adds 1 to every int of MB megabytes, in order, again and again
 * (docs/history.md 10.2), and prints the speed at the end. Without PASSES it goes on
 * until it is killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <clockhand.h>

enum { BYTES_PER_MB = 1 << 20, READ_AND_WRITE = 2 };

/* Hundredths of MB per second for `mb` megabytes read and written in `ns`. */
static uint64_t speed(uint64_t mb, uint64_t ns)
{
	uint64_t us = ns / 1000u ? ns / 1000u : 1;

	return READ_AND_WRITE * mb * 100u * 1000000u / us;
}

/* One pass: adds 1 to every int, which `done` passes have left. 0 if one was something else. */
static int pass(int *a, size_t count, int done)
{
	int right = 1;

	for (size_t i = 0; i < count; i++)
		right &= a[i]++ == done;
	return right;
}

int main(int argc, char **argv)
{
	unsigned long mb = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int passes = argc > 2 ? atoi(argv[2]) : 0, done = 0, right = 1;
	size_t count = mb * (BYTES_PER_MB / sizeof(int));
	uint64_t start, ns, hundredths;
	int *a;

	if (argc < 2 || argc > 3 || mb == 0 || mb >= 2048 || passes < 0) {
		fprintf(stderr, "usage: hogmem MB [PASSES]\n");
		return 2;
	}
	a = mmap(NULL, count * sizeof(*a), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a == MAP_FAILED) {
		fprintf(stderr, "hogmem: out of memory\n");
		return 1;
	}
	start = clock_ns();
	while (passes == 0 || done < passes) {
		right &= pass(a, count, done++);
		write(STDOUT_FILENO, ".", 1);
	}
	ns = clock_ns() - start;
	hundredths = speed((uint64_t)done * mb, ns);
	printf("\nMemory speed: %u.%02u MB/sec\n", (unsigned)(hundredths / 100),
	       (unsigned)(hundredths % 100));
	if (!right) {
		fprintf(stderr, "hogmem: memory changed its contents\n");
		return 1;
	}
	return 0;
}
