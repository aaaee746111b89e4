/* What the host tests use beside the kernel's own headers. */
#ifndef SHIM_H
#define SHIM_H

#include "kernel/types.h"

/* RAM of the host "machine": an arena of `bytes` that paddr 0 upwards lies in. Given
 * back and made anew by a second call; the contents are then a pattern, not zeros. */
void shim_ram(uint32_t bytes);
/* shim_ram() and frame_init() on all of it but the first MiB. */
void shim_machine(uint32_t bytes);

/* Let random_u32() begin anew. */
void shim_seed(uint32_t seed);
/* The run's seed, from the environment's SEED; 1 without it. */
uint32_t shim_run_seed(void);
/* A number in [0, below). */
uint32_t shim_random(uint32_t below);

/* Call fn(), which shall panic: the panic's words, until the next call; NULL if it returned.
 * What fn() was at is left as it was then, locks included. */
const char *shim_panic_of(void (*fn)(void));
/* The kernel's log isn't printed while this is set. */
extern bool shim_quiet;

/* ---- TAP ---- */
/* One line "ok N NAME" or "not ok N NAME"; `seed` is told if it failed. */
void tap(bool ok, const char *name, const char *sentence);
/* Check within a test: the first failure is printed with its place and remembered. */
#define CHECK(cond) shim_check((cond), #cond, __FILE__, __LINE__)
bool shim_check(bool ok, const char *what, const char *file, int line);
/* Ends a test made of CHECKs: prints its line and forgets the failures. */
void tap_checks(const char *name, const char *sentence);
/* Print the plan; returns main()'s status. */
int tap_done(void);

#endif
