/*
 * The kernel around mm/ on the host: RAM is an arena, locks check their order, printing
 * goes to stdout, a panic ends the program. Functions marked weak stand for parts that a
 * test may link for real.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kernel/counters.h"
#include "kernel/handle.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/audit.h"
#include "mm/frame.h"
#include "mm/lru.h"
#include "mm/reclaim.h"
#include "shim.h"

#define WEAK __attribute__((weak))

static struct thread main_thread;
struct thread *current = &main_thread;
bool need_resched;
void (*shim_sleep)(const char *what);
void (*shim_resched)(void);
bool shim_quiet;
uint64_t counters[COUNTER_COUNT];
WEAK const struct reclaim_policy *reclaim;
WEAK uint32_t alloc_fail_in;		/* mm/alloc_fail.h */

/* ---- RAM ---- */

char *shim_arena;
static uint32_t arena_bytes;

void shim_ram(uint32_t bytes)
{
	if (shim_arena)
		munmap(shim_arena, arena_bytes);
	shim_arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shim_arena == MAP_FAILED)
		panic("no arena of %u bytes", bytes);
	arena_bytes = bytes;
	memset(shim_arena, 0xa5, bytes);
}

void shim_machine(uint32_t bytes)
{
	struct ram_range ram = { 0, bytes };

	shim_ram(bytes);
	frame_init(&ram, 1, 1u << 20);
}

/* ---- Locks ---- */

void spin_init(struct spinlock *l, enum lock_rank rank)
{
	l->bit = BIT(rank);
	l->held = false;
}

void spin_lock_nested(struct spinlock *l)
{
	KASSERT2(!l->held, "lock: taken twice", l->bit, 0);
	l->held = true;
	current->held_ranks |= l->bit;
}

void spin_lock(struct spinlock *l)
{
	KASSERT2(current->held_ranks < l->bit, "lock.1", l->bit, current->held_ranks);
	spin_lock_nested(l);
}

bool spin_trylock(struct spinlock *l)
{
	if (l->held)
		return false;
	spin_lock_nested(l);
	return true;
}

void spin_unlock(struct spinlock *l)
{
	KASSERT2(l->held, "lock: not held", l->bit, 0);
	l->held = false;
	current->held_ranks &= ~l->bit;
}

uint32_t spin_lock_irq(struct spinlock *l)
{
	spin_lock(l);
	return 0;
}

void spin_unlock_irq(struct spinlock *l, uint32_t flags)
{
	(void)flags;
	spin_unlock(l);
}

bool spin_held(const struct spinlock *l)
{
	return l->held;
}

bool lock_any_spin_held(void)
{
	return current->held_ranks >> RANK_TASKS != 0;
}

void mutex_init(struct mutex *m, enum lock_rank rank)
{
	m->bit = BIT(rank);
	m->owner = NULL;
	list_init(&m->waiters);
}

void mutex_lock(struct mutex *m)
{
	KASSERT2(!m->owner, "lock: mutex free", m->bit, 0);
	KASSERT2(!lock_any_spin_held(), "lock.2", current->held_ranks, 0);
	m->owner = current;
}

void mutex_unlock(struct mutex *m)
{
	KASSERT2(m->owner == current, "lock: owner", m->bit, 0);
	m->owner = NULL;
}

bool mutex_held(const struct mutex *m)
{
	return m->owner == current;
}

/* ---- Threads ---- */

void cond_resched(void)
{
	KASSERT2(!lock_any_spin_held(), "lock.2", current->held_ranks, 0);
	if (shim_resched)
		shim_resched();
}

void sched_yield(void)
{
	cond_resched();
}

void waitq_init(struct waitq *q)
{
	list_init(&q->threads);
}

int waitq_sleep(struct waitq *q, enum sleep_kind kind, ns_t deadline, const char *what)
{
	(void)q;
	(void)kind;
	(void)deadline;
	KASSERT2(!lock_any_spin_held(), "lock.2", current->held_ranks, 0);
	if (!shim_sleep)
		panic("sleeps for ever: %s", what);
	shim_sleep(what);
	return 0;
}

/* A test that has timers may have one of its own. */
__attribute__((weak)) int thread_sleep(enum sleep_kind kind, ns_t deadline, const char *what)
{
	return waitq_sleep(NULL, kind, deadline, what);
}

void waitq_wake_one(struct waitq *q)
{
	(void)q;
}

void waitq_wake_all(struct waitq *q)
{
	(void)q;
}

/* ---- Time, chance, trace ---- */

static uint32_t random_state = 1;
static ns_t host_ns;

void shim_seed(uint32_t seed)
{
	random_state = seed * 2654435761u + 1;
}

uint32_t random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	if (random_state == 0)
		random_state = 1;
	return random_state;
}

uint32_t shim_run_seed(void)
{
	const char *text = getenv("SEED");

	return text ? (uint32_t)strtoul(text, NULL, 0) : 1;
}

uint32_t shim_random(uint32_t below)
{
	return random_u32() % below;
}

WEAK ns_t clock_ns(void)
{
	return host_ns += 1000;
}

WEAK void kobject_destroy(struct kobject *k)
{
	KASSERT2(k->refs == 0, "handle.1", k->refs, k->type);
	k->ops->destroy(k);
}

WEAK void lru_remove(struct page *p)
{
	(void)p;
}

/* ---- Printing ---- */

static jmp_buf *panic_wanted;		/* where a panic goes on; NULL: it is the end */
static char panic_words[256];

const char *shim_panic_of(void (*fn)(void))
{
	jmp_buf here;
	bool panicked = setjmp(here);

	if (!panicked) {
		panic_wanted = &here;
		fn();
	}
	panic_wanted = NULL;
	return panicked ? panic_words : NULL;
}

void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (panic_wanted) {
		vsnprintf(panic_words, sizeof(panic_words), fmt, ap);
		va_end(ap);
		longjmp(*panic_wanted, 1);
	}
	printf("# PANIC: ");
	vprintf(fmt, ap);
	printf("\nBail out! panic\n");
	va_end(ap);
	fflush(stdout);
	abort();
}

void vprintk(const char *fmt, va_list ap)
{
	if (shim_quiet)
		return;
	printf("# ");
	vprintf(fmt, ap);
}

void printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintk(fmt, ap);
	va_end(ap);
}

int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	return vsnprintf(buf, size, fmt, ap);
}

int ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

WEAK void strlcpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
}

WEAK unsigned audit_violation(const char *invariant, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# INV %s: ", invariant);
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	return 1;
}

/* ---- TAP ---- */

static unsigned tests, failed, checks_failed;

void tap(bool ok, const char *name, const char *sentence)
{
	tests++;
	failed += !ok;
	printf("%sok %u %s %s\n", ok ? "" : "not ", tests, name, sentence);
	fflush(stdout);
}

bool shim_check(bool ok, const char *what, const char *file, int line)
{
	if (!ok && checks_failed++ == 0)
		printf("# %s:%d: %s\n", file, line, what);
	return ok;
}

void tap_checks(const char *name, const char *sentence)
{
	tap(checks_failed == 0, name, sentence);
	checks_failed = 0;
}

int tap_done(void)
{
	printf("1..%u\n", tests);
	return failed != 0;
}
