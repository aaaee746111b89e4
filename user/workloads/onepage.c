/*
 * onepage: takes one page through its whole life, for mm/README.md and whoever reads a
 * trace: touched, aged, written to swap, read back, given up. A child that uses more
 * memory than there is makes the system swap.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <clockhand.h>

enum { PAGE_BYTES = 4096, MARK = 0x5a };

static char *map_pages(size_t pages)
{
	return mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Touch as many pages as the machine has, in a child that then ends. 0 if it did. */
static int press(void)
{
	struct abi_memory m;
	int status = -1;
	pid_t child;

	if (sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m)) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		char *p = map_pages(m.total);

		if (p == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < m.total; i++)
			p[i * PAGE_BYTES] = 1;
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

int main(void)
{
	volatile char *neighbour = map_pages(2);
	char *p = (char *)neighbour + PAGE_BYTES;

	if (neighbour == MAP_FAILED) {
		perror("onepage: mmap");
		return 1;
	}
	neighbour[0] = MARK;
	memset(p, MARK, PAGE_BYTES);
	printf("onepage: pid %d address %#lx\n", (int)getpid(), (unsigned long)(uintptr_t)p);
	fflush(stdout);
	if (press() != 0) {
		fprintf(stderr, "onepage: the system didn't get through the pressure\n");
		return 1;
	}
	(void)neighbour[0];		/* which brings ours along */
	for (size_t i = 0; i < PAGE_BYTES; i++)
		if (p[i] != MARK) {
			fprintf(stderr, "onepage: byte %u is wrong\n", (unsigned)i);
			return 1;
		}
	munmap((char *)neighbour, 2 * PAGE_BYTES);
	return 0;
}
