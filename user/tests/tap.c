/* What the guest tests share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { COUNTERS_BYTES = 8192 };	/* as many as the kernel gives */

static int cases, failed;

void tap_case(int ok, const char *name, const char *text)
{
	cases++;
	failed += !ok;
	printf("%sok %d %s  %s\n", ok ? "" : "not ", cases, name, text);
	fflush(stdout);
}

void tap_equal(long got, long expected, const char *name, const char *text)
{
	tap_case(got == expected, name, text);
	if (got != expected)
		printf("# got %ld, expected %ld\n", got, expected);
	fflush(stdout);
}

int tap_done(void)
{
	printf("1..%d\n", cases);
	return failed != 0;
}

int tap_child(void (*fn)(void *arg), void *arg)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fn(arg);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

char *tap_map(size_t pages)
{
	char *p = mmap(NULL, pages * TAP_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		printf("Bail out! no memory for %u pages\n", (unsigned)pages);
		exit(1);
	}
	return p;
}

void tap_fill(char *page, uint32_t seed)
{
	uint32_t *w = (uint32_t *)page;

	for (unsigned i = 0; i < TAP_PAGE / 4; i++)
		w[i] = seed = seed * 1664525u + 1013904223u;
}

int tap_intact(const char *page, uint32_t seed)
{
	const uint32_t *w = (const uint32_t *)page;

	for (unsigned i = 0; i < TAP_PAGE / 4; i++) {
		seed = seed * 1664525u + 1013904223u;
		if (w[i] != seed)
			return 0;
	}
	return 1;
}

void tap_fill_pages(char *p, unsigned pages, uint32_t seed)
{
	for (unsigned i = 0; i < pages; i++)
		tap_fill(p + i * TAP_PAGE, seed + i);
}

int tap_intact_pages(const char *p, unsigned pages, uint32_t seed)
{
	for (unsigned i = 0; i < pages; i++)
		if (!tap_intact(p + i * TAP_PAGE, seed + i))
			return 0;
	return 1;
}

static void use_pages(void *arg)
{
	size_t pages = *(size_t *)arg;
	volatile char *p = tap_map(pages);

	for (size_t i = 0; i < pages; i++)
		p[i * TAP_PAGE] = (char)i;
}

int tap_pressure(size_t pages)
{
	return tap_child(use_pages, &pages) == TAP_EXITS(0);
}

struct abi_memory tap_memory(void)
{
	struct abi_memory m;

	memset(&m, 0, sizeof(m));
	sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m));
	return m;
}

uint64_t tap_counter(const char *name)
{
	static char text[COUNTERS_BYTES];
	int n = sys_sysinfo(SYSINFO_COUNTERS, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return counter_find(text, name);
}

uint64_t tap_faults(void)
{
	struct abi_usage u;

	sys_task_usage(&u);
	return u.faults;
}

uint32_t tap_ram_pages(void)
{
	struct abi_memory m = tap_memory();

	return m.total - m.reserved;
}

uint32_t tap_swap_free(void)
{
	return tap_memory().swap_free;
}
