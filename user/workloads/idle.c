/*
 * idle KIB: somebody who has memory and doesn't use it. Writes to KIB kibibytes once and sleeps
 * until he is killed, as the programs of a machine do on which one program is busy: what they
 * have goes to swap and stays there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KIB = 1024, KIB_MAX = 2048 * KIB, A_DAY = 86400 };

int main(int argc, char **argv)
{
	unsigned long kib = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	volatile char *p;

	if (kib == 0 || kib >= KIB_MAX) {
		fprintf(stderr, "usage: idle KIB\n");
		return 2;
	}
	p = mmap(NULL, kib * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		fprintf(stderr, "idle: out of memory\n");
		return 1;
	}
	for (unsigned long i = 0; i < kib; i++)
		p[i * KIB] = 1;
	for (;;)
		sleep(A_DAY);
}
