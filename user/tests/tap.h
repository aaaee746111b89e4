/* Guest tests: TAP on standard output. A case's name is AREA-TOPIC-NN. */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stddef.h>
#include <stdint.h>
#include <kernel/abi/sysinfo.h>

/* One case: "ok N NAME  text". */
void tap_case(int ok, const char *name, const char *text);
/* The same with what was got and what was expected, told if they differ. */
void tap_equal(long got, long expected, const char *name, const char *text);
/* The plan and the exit status: 0 if all was well. Call last. */
int tap_done(void);

/* Run fn(arg) in a child; its status as wait() gives it. */
int tap_child(void (*fn)(void *arg), void *arg);
/* What such a child shall end with: exit code, or signal. */
#define TAP_EXITS(code)	(((code) & 0xff) << 8)
#define TAP_KILLED(sig)	(sig)

/* `pages` fresh anonymous pages, readable and writable; ends the test if there are none. */
char *tap_map(size_t pages);
/* Fill a page-sized stretch with a pattern of `seed`, and check it: 1 if it is intact. */
void tap_fill(char *page, uint32_t seed);
int tap_intact(const char *page, uint32_t seed);
/* The same for `pages` of them in a row, page i with seed + i. */
void tap_fill_pages(char *p, unsigned pages, uint32_t seed);
int tap_intact_pages(const char *p, unsigned pages, uint32_t seed);
/* Make the system swap: use `pages` pages in a child and let it go. 1 if it did well. */
int tap_pressure(size_t pages);
/* How memory is used now; one of the kernel's counters; the faults of this process so far. */
struct abi_memory tap_memory(void);
uint64_t tap_counter(const char *name);
uint64_t tap_faults(void);
/* Pages of RAM, and of free swap. */
uint32_t tap_ram_pages(void);
uint32_t tap_swap_free(void);

#define TAP_PAGE 4096u

#endif
