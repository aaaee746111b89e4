/*
 * Pages that are on disk when somebody wants them: the kernel copying for a system call,
 * a message between processes, madvise and munmap, and a program in the middle of a
 * computation. Each case pushes its pages out first and sees by the count of faults that
 * they had really gone (readahead for another page may have brought them back as far as
 * the swap cache).
 *
 * run: --ram 16M --swap 64M
 * rmap: each
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { PAGES = 16, MANY = 256, SLACK = 24 };

static char *area;

/* Twice: the first time may leave our pages in the swap cache. */
static void push_out(void)
{
	tap_pressure(tap_ram_pages() / 4 * 5);
	tap_pressure(tap_ram_pages() / 4 * 5);
}

static void copies(void)
{
	int object = sys_object_create(PAGES);
	uint32_t bytes = PAGES * TAP_PAGE;
	uint64_t before;

	tap_fill_pages(area, PAGES, 1);
	push_out();
	before = tap_faults();
	tap_equal(sys_object_write(object, 0, area, bytes), bytes, "swapped-copy-01",
		  "the kernel reads pages that are on disk");
	tap_case(tap_faults() >= before + PAGES, "swapped-copy-02", "they were");
	tap_fill_pages(area, PAGES, 50);
	push_out();
	before = tap_faults();
	tap_equal(sys_object_read(object, 0, area + 1, bytes - 1), bytes - 1, "swapped-copy-03",
		  "the kernel writes to pages that are on disk");
	tap_case(tap_faults() >= before + PAGES, "swapped-copy-04", "they were");
	memmove(area, area + 1, bytes - 1);
	tap_case(tap_intact_pages(area, PAGES - 1, 1), "swapped-copy-05", "every byte arrived");
	sys_handle_close(object);
}

/* Answers one message whose data are what they should be by other data. */
static void echo_once(int endpoint)
{
	struct ipc_message m = { 0 };
	static char data[TAP_PAGE];

	tap_fill(data, 999);		/* its room is on disk too when the call comes */
	m.data = (uintptr_t)data;
	m.reply_room = sizeof(data);
	sys_ipc_receive(endpoint, &m);
	tap_fill(data, tap_intact(data, 300) ? 301 : 302);
	sys_ipc_reply(m.token, &m);
	_exit(0);
}

static void messages(void)
{
	struct ipc_message m = { 0 };
	int endpoint = sys_endpoint_create(), error, status;
	uint64_t before;
	pid_t pid;

	tap_fill_pages(area, 1, 300);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		echo_once(endpoint);
	push_out();
	before = tap_faults();
	m.data = (uintptr_t)area;
	m.data_bytes = TAP_PAGE;
	m.reply_room = TAP_PAGE;
	error = sys_ipc_call(endpoint, &m);
	tap_case(error >= 0 && m.data_bytes == TAP_PAGE && tap_intact(area, 301),
		 "swapped-ipc-01", "a message and its reply, between pages that are on disk");
	tap_case(tap_faults() >= before + 2, "swapped-ipc-02", "they were");	/* one for the copy */
	waitpid(pid, &status, 0);
	sys_handle_close(endpoint);
}

static int zero(const char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i])
			return 0;
	return 1;
}

/* Slots of pages that nobody wants any more come back. */
static void dropped(void)
{
	char *p = tap_map(MANY);
	uint32_t free;

	tap_fill_pages(p, MANY, 7);
	push_out();
	free = tap_memory().swap_free;
	tap_equal(madvise(p, MANY / 2 * TAP_PAGE, MADV_DONTNEED), 0, "swapped-advise-01",
		  "pages on disk are not needed");
	tap_case(tap_memory().swap_free + SLACK >= free + MANY / 2, "swapped-advise-02",
		 "their slots are free");
	tap_case(zero(p, MANY / 2 * TAP_PAGE), "swapped-advise-03", "they read zero");
	tap_case(tap_intact_pages(p + MANY / 2 * TAP_PAGE, 8, 7 + MANY / 2), "swapped-advise-04",
		 "the others come back");
	push_out();
	free = tap_memory().swap_free;
	tap_equal(munmap(p, MANY * TAP_PAGE), 0, "swapped-munmap-01", "pages on disk are unmapped");
	tap_case(tap_memory().swap_free + SLACK >= free + MANY / 2, "swapped-munmap-02",
		 "their slots are free");
}

/* Pages that go because their owner says so: at once, also when a child shares them. */
static void paged_out(void)
{
	char *p = tap_map(PAGES);
	uint32_t slots = tap_memory().swap_free;
	uint64_t before;
	int status;
	pid_t pid;

	tap_fill_pages(p, PAGES, 400);
	tap_equal(madvise(p, PAGES * TAP_PAGE, MADV_PAGEOUT), 0, "swapped-pageout-01",
		  "pages go when their owner says so");
	tap_equal((long)(slots - tap_memory().swap_free), PAGES, "swapped-pageout-02", "each has a slot");
	before = tap_faults();
	tap_case(tap_intact_pages(p, PAGES, 400) && tap_faults() >= before + PAGES, "swapped-pageout-03",
		 "each is asked for again, and is whole");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(madvise(p, PAGES * TAP_PAGE, MADV_PAGEOUT) < 0 || !tap_intact_pages(p, PAGES, 400));
	tap_case(waitpid(pid, &status, 0) == pid && status == 0 && tap_intact_pages(p, PAGES, 400),
		 "swapped-pageout-04", "shared pages are whole on both sides");
	tap_equal(madvise(p, PAGES * TAP_PAGE + 1, MADV_PAGEOUT), -1, "swapped-pageout-05",
		  "a hole in the range");
	munmap(p, PAGES * TAP_PAGE);
}

/* Reading what nobody wrote costs page tables only. */
static void zero_page(void)
{
	char *p = tap_map(MANY);
	struct abi_memory before = tap_memory(), after;

	tap_case(zero(p, MANY * TAP_PAGE), "zero-page-01", "pages that nobody wrote read zero");
	after = tap_memory();
	tap_case(after.free + SLACK >= before.free, "zero-page-02", "and take no frames");
	p[5 * TAP_PAGE] = 1;
	tap_case(zero(p, 5 * TAP_PAGE) && zero(p + 6 * TAP_PAGE, TAP_PAGE), "zero-page-03",
		 "a write to one changes no other");
	munmap(p, MANY * TAP_PAGE);
}

/* The FPU's eight registers while the processor waits for pages and others compute. */
static void computing(void)
{
	double in[8] = { 1.5, 2.25, -3.125, 4e10, 5e-10, 6, 7, 8.0625 }, out[8];
	volatile double rival = 1;
	uint64_t before = 0;
	int whole = 1, stop = 0;
	pid_t pid;

	tap_fill_pages(area, PAGES, 90);
	fflush(stdout);
	push_out();
	pid = fork();
	if (pid == 0)
		while (!stop)
			rival = rival * 1.0001 + 1;
	before = tap_faults();
	for (int i = 0; i < 8; i++)
		__asm__ volatile("fldl %0" : : "m"(in[i]));
	for (unsigned i = 0; i < PAGES; i++)
		whole &= tap_intact(area + i * TAP_PAGE, 90 + i);
	sys_sleep(100000000, 0);
	for (int i = 7; i >= 0; i--)
		__asm__ volatile("fstpl %0" : "=m"(out[i]));
	tap_case(whole && tap_faults() >= before + PAGES, "swapped-fpu-01", "pages come in from disk");
	tap_case(memcmp(in, out, sizeof(in)) == 0, "swapped-fpu-02",
		 "the FPU's registers are what they were");
	kill(pid, 9);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	area = tap_map(PAGES);
	copies();
	messages();
	dropped();
	paged_out();
	zero_page();
	computing();
	return tap_done();
}
