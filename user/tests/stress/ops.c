/*
 * The operations of the stress test: done, and what they make of the model.
 *
 * A call that fails must change nothing, and may fail only for want of memory, or where the
 * model says that it must. That it doesn't always fail is for the caller to see (`done`).
 */
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
#include "user/tests/stress/model.h"

enum { LOCKED_MAX = 16, FORK_DEPTH_MAX = 3 };

/* Words of a private page that are written and compared: one a sector, and the last. */
static const uint16_t check_words[] = { 0, 128, 256, 384, 512, 640, 768, 896, WORDS - 1 };
enum { CHECK_WORDS = sizeof(check_words) / sizeof(*check_words) };

/* ---- Contents ---- */

static uint32_t new_stamp(struct process *p, unsigned n)
{
	p->version++;
	return p->index << 22 | (n & 0x1ff) << 13 | (p->version & 0x1fff);
}

static uint32_t check_value(uint32_t stamp, unsigned word)
{
	return stamp ^ word * 0x01000193u;
}

static uint32_t object_tag(const struct process *p, const struct model_page *m)
{
	return 0xc0000000u | (p->object[m->object].id * 61 + m->object_page) % 0x3fffffff;
}

static bool may_read(const struct model_page *m)
{
	return m->kind != NONE && m->prot != PROT_NONE;
}

static bool may_write(const struct model_page *m)
{
	return m->kind != NONE && (m->prot & PROT_WRITE);
}

/* One word is loaded; the access must be refused exactly where the model says so. False:
 * there is nothing to compare (refused, or no memory, or the disk lost it). */
static bool load(struct process *p, unsigned n, unsigned word, uint32_t *value)
{
	uint32_t addr = page_addr(n) + word * 4;
	bool allowed = may_read(&p->page[n]);
	int error = os_load(p, addr, value);

	if ((error == -EFAULT) == allowed)
		process_wrong(p, "read", addr, allowed ? 0 : -EFAULT, error);
	p->weak += error && allowed;
	return !error;
}

static bool store(struct process *p, unsigned n, unsigned word, uint32_t value)
{
	uint32_t addr = page_addr(n) + word * 4;
	bool allowed = may_write(&p->page[n]);
	int error = os_store(p, addr, value);

	if ((error == -EFAULT) == allowed)
		process_wrong(p, "write", addr, allowed ? 0 : -EFAULT, error);
	p->weak += error && allowed;
	return !error;
}

static void write_shared(struct process *p, unsigned n)
{
	struct model_page *m = &p->page[n];
	uint32_t stamp = new_stamp(p, n);

	if (!store(p, n, 0, object_tag(p, m)))
		return;
	if (store(p, n, p->index, stamp))
		p->object[m->object].own[m->object_page] = stamp;
}

static void write_private(struct process *p, unsigned n)
{
	struct model_page *m = &p->page[n];
	uint32_t stamp = new_stamp(p, n);

	for (unsigned i = 0; i < CHECK_WORDS; i++) {
		if (!store(p, n, check_words[i], check_value(stamp, check_words[i]))) {
			m->unsure |= may_write(m) && i > 0;
			return;
		}
	}
	m->touched = true;
	m->unsure = false;
	m->value = stamp;
}

void write_page(struct process *p, unsigned n)
{
	if (p->page[n].kind == SHARED)
		write_shared(p, n);
	else
		write_private(p, n);
}

/* What everybody who maps the object sees of it, and this process's own word of it. */
static void read_object(struct process *p, unsigned n)
{
	const struct model_page *m = &p->page[n];
	uint32_t *own = &p->object[m->object].own[m->object_page], tag = object_tag(p, m), value;

	if (load(p, n, 0, &value) && value != tag && (value != 0 || *own))
		process_wrong(p, "tag of a shared page", page_addr(n), tag, value);
	if (!*own || !load(p, n, p->index, &value) || value == *own)
		return;
	process_wrong(p, "own word of a shared page", page_addr(n) + p->index * 4, *own, value);
}

void read_page(struct process *p, unsigned n)
{
	struct model_page *m = &p->page[n];
	uint32_t value;

	if (m->unsure)
		return;
	if (m->kind == SHARED || (m->kind == COPY && !m->touched)) {
		read_object(p, n);
		return;
	}
	for (unsigned i = 0; i < CHECK_WORDS; i++) {
		uint32_t expected = m->touched ? check_value(m->value, check_words[i]) : 0;

		if (!load(p, n, check_words[i], &value))
			return;
		if (value != expected)
			process_wrong(p, "private page", page_addr(n) + check_words[i] * 4,
				      expected, value);
	}
}

/* ---- The model's part of mapping ---- */

static bool object_in_use(const struct process *p, unsigned object)
{
	for (unsigned n = 0; n < WINDOW_PAGES; n++)
		if (p->page[n].kind > ANON && p->page[n].object == object)
			return true;
	return false;
}

/* A free entry of the table for a new anonymous shared mapping; 0: none. */
static unsigned new_object(struct process *p)
{
	for (unsigned i = NAMED_OBJECTS; i < OBJECTS; i++) {
		if (object_in_use(p, i))
			continue;
		memset(&p->object[i], 0, sizeof(p->object[i]));
		p->object[i].id = p->index << 16 | (++p->objects_made & 0xffff);
		return i;
	}
	return 0;
}

static void forget(struct process *p, unsigned first, unsigned pages)
{
	memset(&p->page[first], 0, pages * sizeof(p->page[0]));
}

static bool all_mapped(const struct process *p, unsigned first, unsigned pages)
{
	for (unsigned n = first; n < first + pages; n++)
		if (p->page[n].kind == NONE)
			return false;
	return true;
}

static bool all_free(const struct process *p, unsigned first, unsigned pages)
{
	for (unsigned n = first; n < first + pages; n++)
		if (p->page[n].kind != NONE)
			return false;
	return true;
}

static bool any_locked(const struct process *p, unsigned first, unsigned pages)
{
	for (unsigned n = first; n < first + pages; n++)
		if (p->page[n].locked)
			return true;
	return false;
}

/* ---- Operations ---- */

static void do_touch(struct process *p, struct op *op)
{
	for (unsigned n = op->first; n < op->first + op->pages; n++) {
		if (op->kind == OP_WRITE)
			write_page(p, n);
		else
			read_page(p, n);
	}
	p->done[op->kind]++;
}

static enum kind kind_of(const struct op *op)
{
	if (op->flags & MAP_SHARED)
		return SHARED;
	return op->flags & MAP_ANONYMOUS ? ANON : COPY;
}

static void note_mapped(struct process *p, const struct op *op, unsigned first, unsigned object)
{
	forget(p, first, op->pages);
	for (unsigned i = 0; i < op->pages; i++) {
		struct model_page *m = &p->page[first + i];

		m->kind = (uint8_t)kind_of(op);
		m->prot = (uint8_t)op->prot;
		m->object = (uint8_t)object;
		m->object_page = (uint16_t)(op->object_page + i);
	}
}

/* Where nothing was, a wish is granted; else the new mapping lies outside the window, and is
 * given back: that is a test of choosing an address, too. */
static void do_map(struct process *p, struct op *op)
{
	bool fixed = op->flags & MAP_FIXED, named = !(op->flags & MAP_ANONYMOUS);
	bool granted = fixed || all_free(p, op->first, op->pages);
	uint32_t wish = page_addr(op->first), bytes = op->pages * STRESS_PAGE;
	unsigned object = op->object;
	int64_t at;

	if (!named) {
		op->object_page = 0;
		object = op->flags & MAP_SHARED ? new_object(p) : 0;
		if (kind_of(op) == SHARED && !object)
			return;
	}
	at = op->result = os_map(p, wish, bytes, op->prot, op->flags, named ? (int)object : -1,
				 op->object_page);
	if (at == -ENOMEM)
		p->weak++;
	else if (at < 0 || (granted && at != wish))
		process_wrong(p, "mmap", wish, wish, at);
	else if (granted)
		note_mapped(p, op, op->first, object);
	else if (at < WINDOW + WINDOW_PAGES * STRESS_PAGE && at + bytes > WINDOW)
		process_wrong(p, "mmap chose a place in use", wish, 0, at);
	else if (os_unmap(p, (uint32_t)at, bytes))
		process_wrong(p, "munmap of what mmap gave", (uint32_t)at, 0, -1);
	p->done[OP_MAP] += at > 0;
}

/* A call's result: true if it was done. */
static bool result(struct process *p, struct op *op, int64_t error, int64_t also)
{
	op->result = error;
	if (error == -ENOMEM)
		p->weak++;
	else if (error < 0 && error != also)
		process_wrong(p, op_name(op->kind), page_addr(op->first), also, error);
	p->done[op->kind] += error >= 0;
	return error >= 0;
}

static void do_unmap(struct process *p, struct op *op)
{
	if (result(p, op, os_unmap(p, page_addr(op->first), op->pages * STRESS_PAGE), 0))
		forget(p, op->first, op->pages);
}

/* What a call has left that failed for want of memory is unknown in some cases: mprotect() and
 * mlock() may have come a part of the way, and a mremap() to a fixed place may have unmapped
 * what was there. Then the range is given up. */
static void give_up(struct process *p, unsigned first, unsigned pages)
{
	if (os_unmap(p, page_addr(first), pages * STRESS_PAGE) == 0)
		forget(p, first, pages);
	else
		process_end(p);		/* which needs no memory: no vma is split */
}

/* Over a hole it must fail, and how much of it was done before is unspecified: not drawn. */
static void do_protect(struct process *p, struct op *op)
{
	if (!all_mapped(p, op->first, op->pages))
		return;
	if (!result(p, op, os_protect(p, page_addr(op->first), op->pages * STRESS_PAGE,
				      op->prot), 0)) {
		give_up(p, op->first, op->pages);
		return;
	}
	for (unsigned n = op->first; n < op->first + op->pages; n++)
		p->page[n].prot = (uint8_t)op->prot;
}

/* Pages that were at `first` are at `to` now. A mapping that grew has new ones behind. */
static void note_moved(struct process *p, const struct op *op, unsigned to)
{
	unsigned kept = op->pages < op->to_pages ? op->pages : op->to_pages;
	struct model_page moved[WINDOW_PAGES], last = p->page[op->first + op->pages - 1];

	memcpy(moved, &p->page[op->first], kept * sizeof(moved[0]));
	for (unsigned i = kept; i < op->to_pages; i++) {
		moved[i] = last;
		moved[i].touched = moved[i].unsure = false;
		moved[i].object_page = (uint16_t)(last.object_page + i - kept + 1);
	}
	forget(p, op->first, op->pages);
	if (to < WINDOW_PAGES)
		memcpy(&p->page[to], moved, op->to_pages * sizeof(moved[0]));
}

/* Objects don't grow; a mapping that does would reach beyond its object's end. */
static bool can_grow(const struct process *p, const struct op *op)
{
	return op->to_pages <= op->pages || p->page[op->first + op->pages - 1].kind == ANON;
}

/* -EFAULT: the range isn't one vma's, as far as the kernel is concerned. */
static void do_remap(struct process *p, struct op *op)
{
	uint32_t from = page_addr(op->first), bytes = op->pages * STRESS_PAGE;
	uint32_t new_bytes = op->to_pages * STRESS_PAGE;
	bool fixed = op->flags & MREMAP_FIXED;
	int64_t at;

	if (!all_mapped(p, op->first, op->pages) || !can_grow(p, op))
		return;
	at = os_remap(p, from, bytes, new_bytes, op->flags, fixed ? page_addr(op->to) : 0);
	if (!result(p, op, at, -EFAULT)) {
		if (fixed && at == -ENOMEM)
			give_up(p, op->to, op->to_pages);
		return;
	}
	if (fixed && at != page_addr(op->to))
		process_wrong(p, "mremap to a fixed place", from, page_addr(op->to), at);
	if (!fixed && !(op->flags & MREMAP_MAYMOVE) && at != from)
		process_wrong(p, "mremap that may not move", from, from, at);
	if (fixed)
		forget(p, op->to, op->to_pages);
	note_moved(p, op, (uint32_t)(at - WINDOW) / STRESS_PAGE);
	if (at < WINDOW || at >= WINDOW + WINDOW_PAGES * STRESS_PAGE)
		if (os_unmap(p, (uint32_t)at, new_bytes))
			process_wrong(p, "munmap of what mremap gave", (uint32_t)at, 0, -1);
}

/* MADV_DONTNEED: private pages read as new; those of objects stay in the object. */
static void note_dropped(struct process *p, unsigned first, unsigned pages)
{
	for (unsigned n = first; n < first + pages; n++)
		p->page[n].touched = p->page[n].unsure = false;
}

static void do_advise(struct process *p, struct op *op)
{
	bool drop = op->flags == MADV_DONTNEED, out = op->flags == MADV_PAGEOUT;
	bool refused = (drop || out) && any_locked(p, op->first, op->pages);
	bool holes = !all_mapped(p, op->first, op->pages);
	int error = os_advise(p, page_addr(op->first), op->pages * STRESS_PAGE, op->flags);

	op->result = error;
	if (error != (refused ? -EINVAL : holes ? -ENOMEM : 0))
		process_wrong(p, "madvise", page_addr(op->first), refused, error);
	p->done[OP_ADVISE] += !error;
	if (drop && !refused)
		note_dropped(p, op->first, op->pages);
}

static unsigned locked_pages(const struct process *p)
{
	unsigned count = 0;

	for (unsigned n = 0; n < WINDOW_PAGES; n++)
		count += p->page[n].locked;
	return count;
}

/* Locking fills the pages, which can fail half way; the lock is then taken off again. PROT_NONE
 * can't be filled. A private mapping of an object may be copied then, and keep what the object
 * held at that moment: the next write makes it sure again. */
static void do_lock(struct process *p, struct op *op)
{
	bool lock = op->kind == OP_LOCK;
	uint32_t addr = page_addr(op->first), bytes = op->pages * STRESS_PAGE;
	int error;

	if (!all_mapped(p, op->first, op->pages) ||
	    (lock && locked_pages(p) + op->pages > LOCKED_MAX))
		return;
	for (unsigned n = op->first; n < op->first + op->pages; n++)
		p->page[n].unsure |= lock && p->page[n].kind == COPY && !p->page[n].touched;
	error = os_lock(p, addr, bytes, lock);
	if (!result(p, op, error == -EIO ? -ENOMEM : error, -EAGAIN) &&
	    os_lock(p, addr, bytes, false) != 0) {
		give_up(p, op->first, op->pages);
		return;
	}
	for (unsigned n = op->first; n < op->first + op->pages; n++)
		p->page[n].locked = lock && !error;
}

static void do_fork(struct process *p, struct op *op)
{
	if (p->depth < FORK_DEPTH_MAX)
		result(p, op, os_fork(p, op->seed), -EAGAIN);
}

/* It may fail for many a good reason: no room, a bad sector, somebody else's swapoff. */
static void do_swap(struct process *p, struct op *op)
{
	op->result = os_swap(p, op->object);
	p->done[OP_SWAP] += op->result == 0;
}

void do_op(struct process *p, struct op *op)
{
	static void (*const fn[OP_KINDS])(struct process *p, struct op *op) = {
		[OP_WRITE] = do_touch, [OP_READ] = do_touch, [OP_MAP] = do_map,
		[OP_UNMAP] = do_unmap, [OP_PROTECT] = do_protect, [OP_REMAP] = do_remap,
		[OP_ADVISE] = do_advise, [OP_LOCK] = do_lock, [OP_UNLOCK] = do_lock,
		[OP_FORK] = do_fork, [OP_SWAP] = do_swap,
	};

	if (fn[op->kind])
		fn[op->kind](p, op);
}
