/*
 * reread MB PASSES: writes to MB megabytes once, and then only reads them, from start to end, PASSES
 * times: what qsbench does at its end (docs/history.md 2.6), at length. Slots that are only
 * freed by a write are all in use before long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BYTES_PER_MB = 1 << 20, WORDS_PER_PAGE = 1024 };

int main(int argc, char **argv)
{
	unsigned long mb = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int passes = argc > 2 ? atoi(argv[2]) : 0;
	size_t count = mb * (BYTES_PER_MB / sizeof(unsigned));
	volatile unsigned *a;

	if (argc != 3 || mb == 0 || mb >= 2048 || passes < 0) {
		fprintf(stderr, "usage: reread MB PASSES\n");
		return 2;
	}
	a = mmap(NULL, count * sizeof(*a), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a == MAP_FAILED) {
		fprintf(stderr, "reread: out of memory\n");
		return 1;
	}
	for (size_t i = 0; i < count; i += WORDS_PER_PAGE)
		a[i] = (unsigned)i;
	for (int pass = 0; pass < passes; pass++) {
		for (size_t i = 0; i < count; i += WORDS_PER_PAGE) {
			if (a[i] == (unsigned)i)
				continue;
			fprintf(stderr, "reread: memory changed its contents\n");
			return 1;
		}
	}
	return 0;
}
