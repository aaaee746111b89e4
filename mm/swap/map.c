/*
 * The map of all slots, as the host is told of it: what state each slot is in, and whose it is.
 * Nobody keeps a slot's owner, so one sweep over all page tables finds the PTEs that hold slots and
 * the pages of the swap cache. It is an aside (kernel/aside.h): nothing runs meanwhile.
 */
#include "mm/swap/map.h"

#include "kernel/console.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/task.h"
#include "kernel/time.h"
#include "mm/swap/area.h"
#include "mm/vma.h"

enum { LIST_BYTES = 128, LINE_BYTES = 512, WORD_BYTES = 32 };

PARAM_LIST(moments, "swap.map", LIST_BYTES);

static bool at_oom;

/* A line that is being filled; `head` begins it, and is all of it while it has no words. */
struct map_line {
	char head[WORD_BYTES];
	char text[LINE_BYTES];
	int  used;
};

/* Slots that follow one another. */
struct slot_span {
	unsigned area;
	uint32_t first, count;
};

struct sweep {
	struct map_line	 line;
	struct slot_span span;		/* count 0: none yet */
};

/* Where the word behind `at` ends. */
static size_t word_bytes(const char *at)
{
	size_t n = 0;

	while (at[n] != '\0' && at[n] != ',')
		n++;
	return n;
}

static bool is_oom(const char *word, size_t n)
{
	return n == 3 && strncmp(word, "oom", 3) == 0;
}

/* A number of seconds of at most nine digits, or -1. */
static int32_t seconds_of(const char *word, size_t n)
{
	int32_t seconds = 0;

	for (size_t i = 0; i < n; i++) {
		if (word[i] < '0' || word[i] > '9')
			return -1;
		seconds = seconds * 10 + (word[i] - '0');
	}
	return n > 0 && n <= 9 ? seconds : -1;
}

#define FOR_EACH_WORD(word, n)						\
	for (const char *word = moments; *word != '\0'; word += word[0] == ',')	\
		for (size_t n = word_bytes(word); n > 0; word += n, n = 0)

void swap_map_init(void)
{
	FOR_EACH_WORD(word, n) {
		if (is_oom(word, n))
			at_oom = true;
		else if (seconds_of(word, n) < 0)
			printk("param: swap.map: %.*s is neither oom nor a number of seconds; it is left out\n",
			       (int)n, word);
	}
}

bool swap_map_at_oom(void)
{
	return at_oom;
}

ns_t swap_map_due(ns_t after, ns_t never)
{
	ns_t due = never;

	FOR_EACH_WORD(word, n) {
		ns_t at = (ns_t)seconds_of(word, n) * NS_PER_SECOND;

		if (seconds_of(word, n) >= 0 && at > after)
			due = MIN(due, at);
	}
	return due;
}

/* ---- Lines ---- */

static void line_end(struct map_line *l)
{
	int head = (int)strlen(l->head);

	if (l->used > head) {
		l->text[l->used++] = '\n';
		console_report(l->text, (size_t)l->used);
	}
	l->used = ksnprintf(l->text, LINE_BYTES, "%s", l->head);
}

static void line_begin(struct map_line *l, const char *head)
{
	line_end(l);
	strlcpy(l->head, head, sizeof(l->head));
	l->used = ksnprintf(l->text, LINE_BYTES, "%s", head);
}

static void line_add(struct map_line *l, const char *word)
{
	if (l->used + WORD_BYTES >= LINE_BYTES)
		line_end(l);
	l->used += ksnprintf(l->text + l->used, (size_t)(LINE_BYTES - l->used), " %s", word);
}

/* ---- States, slot by slot ---- */

static char slot_kind(const struct swap_area *a, uint32_t slot)
{
	uint16_t count = slot_count(a, slot);

	if (count == 0 || count == SLOT_BAD)
		return count == 0 ? 'f' : 'b';
	return slot_page(a, slot) ? 'r' : 's';
}

static void write_states(struct map_line *l, const struct swap_area *a)
{
	char word[WORD_BYTES];
	uint32_t end;

	ksnprintf(word, sizeof(word), "@map slots %u", swap_area_number(a));
	line_begin(l, word);
	for (uint32_t slot = 0; slot < a->size; slot = end) {
		char kind = slot_kind(a, slot);

		for (end = slot + 1; end < a->size && slot_kind(a, end) == kind; end++)
			;
		ksnprintf(word, sizeof(word), "%c%u", kind, end - slot);
		line_add(l, word);
	}
}

/* ---- Owners, PTE by PTE ---- */

static void span_end(struct sweep *s)
{
	char word[WORD_BYTES];

	if (s->span.count != 0) {
		ksnprintf(word, sizeof(word), "%u:%u+%u", s->span.area, s->span.first, s->span.count);
		line_add(&s->line, word);
	}
	s->span.count = 0;
}

/* The slot that a PTE holds, itself or by its page in the swap cache. False: none. */
static bool pte_slot(pte_t pte, swap_entry *e)
{
	struct page *p;

	if (!pte_present(pte)) {
		*e = pte_swap_entry(pte);
		return pte_is_swap(pte);
	}
	p = pfn_page(pte_pfn(pte));		/* pt.1 */
	if (!page_is(p, PG_SWAPCACHE))
		return false;
	*e = (swap_entry){ p->private };
	return true;
}

static void sweep_pte(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct sweep *s = arg;
	struct slot_span *span = &s->span;
	swap_entry e;

	(void)mm;
	(void)addr;
	if (!pte_slot(*pte, &e))
		return;
	if (span->count != 0 && span->area == swap_entry_area(e) &&
	    span->first + span->count == swap_entry_slot(e)) {
		span->count++;
		return;
	}
	span_end(s);
	*span = (struct slot_span){ .area = swap_entry_area(e), .first = swap_entry_slot(e), .count = 1 };
}

static bool sweep_task(struct task *t, void *arg)
{
	struct sweep *s = arg;
	char head[WORD_BYTES];

	if (!t->mm)
		return true;
	line_end(&s->line);
	report("@map task %d %s\n", (int)t->pid, t->name);
	ksnprintf(head, sizeof(head), "@map owner %d", (int)t->pid);
	line_begin(&s->line, head);
	pte_for_each(t->mm, sweep_pte, s);
	span_end(s);
	return true;
}

bool swap_map_write(const char *cause)
{
	static struct sweep s;

	if (lock_any_spin_held())
		return false;
	report("@map begin %llu %s\n", (unsigned long long)clock_ns(), cause);
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++) {
		const struct swap_area *a = &swap_areas[i];

		if (a->state == AREA_OFF)
			continue;
		report("@map area %u %s %u\n", i, a->dev->name, a->size);
		write_states(&s.line, a);
		line_begin(&s.line, "");
	}
	task_for_each(sweep_task, &s);
	line_begin(&s.line, "");
	report("@map end\n");
	return true;
}
