/*
 * Pages to and from their slots. Each page is one bio; plugging lets the block layer
 * merge neighbours into requests of many pages.
 *
 * Bios come from a fixed pool: writing pages out is what frees memory, so it must not
 * need any. Writes may not take the last of the pool, so that a read never waits for
 * writes of other pages. Whoever finds the pool empty sleeps until a transfer ends.
 *
 *   swap_write: LOCKED -> WRITEBACK -> (interrupt) clean, or DIRTY + ERROR: see relocate.c
 *   swap_read_start: LOCKED -> (interrupt) UPTODATE, or ERROR; unlocked
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/lru.h"
#include "mm/reclaim.h"
#include "mm/swap/area.h"

enum { SWAP_IO_MAX = 256, SWAP_WRITES_MAX = 192, SWAP_CONGESTED_AT = 160 };

struct swap_io {
	struct bio   bio;
	struct page *page;
};

/* Interrupts off. `unused` chains free ones through bio.link. */
static struct swap_io pool[SWAP_IO_MAX];
static struct list unused = LIST_INIT(unused);
static bool pool_ready;
static unsigned writes_pending, reads_pending;
static struct waitq pool_waiters = WAITQ_INIT(pool_waiters);

uint32_t swap_writes_pending(void)
{
	return writes_pending;
}

uint32_t swap_reads_pending(void)
{
	return reads_pending;
}

bool swap_in_flight_full(void)
{
	return swap_rules.in_flight && writes_pending + reads_pending > swap_rules.in_flight;
}

bool swap_congested(void)
{
	return writes_pending >= SWAP_CONGESTED_AT;
}

/* First use: chain the pool. */
static void pool_prepare(void)
{
	if (pool_ready)
		return;
	for (unsigned i = 0; i < SWAP_IO_MAX; i++)
		list_insert_tail(&unused, &pool[i].bio.link);
	pool_ready = true;
}

static bool may_take(bool write)
{
	return !list_empty(&unused) && (!write || writes_pending < SWAP_WRITES_MAX);
}

/*
 * A bio for `p`. Sleeps while the pool gives none; every transfer ends, if need be by
 * the driver's time limit. What this thread has plugged is let go first, else it
 * might wait for itself.
 */
static struct swap_io *io_take(struct page *p, bool write)
{
	uint32_t flags = irq_save();
	struct swap_io *io;

	pool_prepare();
	while (!may_take(write)) {
		irq_restore(flags);
		block_unplug();
		flags = irq_save();
		if (!may_take(write))
			waitq_sleep(&pool_waiters, SLEEP_UNKILLABLE, 0, "swap I/O");
		irq_restore(flags);
		block_plug();
		flags = irq_save();
	}
	io = list_first(&unused, struct swap_io, bio.link);
	list_remove(&io->bio.link);
	if (write)
		writes_pending++;
	else
		reads_pending++;
	irq_restore(flags);
	io->page = p;
	return io;
}

/* Interrupt context, interrupts off. */
static void io_give(struct swap_io *io)
{
	if (io->bio.write)
		writes_pending--;
	else
		reads_pending--;
	io->page = NULL;
	list_insert_tail(&unused, &io->bio.link);
	waitq_wake_all(&pool_waiters);
}

static void io_submit(struct swap_io *io, bool write, void (*done)(struct bio *b))
{
	swap_entry e = { io->page->private };

	io->bio = (struct bio){
		.dev	 = swap_entry_to_area(e)->dev,
		.sector	 = (sector_t)swap_entry_slot(e) * SECTORS_PER_PAGE,
		.sectors = SECTORS_PER_PAGE,
		.buffer	 = page_address(io->page),
		.write	 = write,
		.done	 = done,
		.private = io,
	};
	list_init(&io->bio.link);
	block_submit(&io->bio);
}

static void log_error(const struct swap_io *io, const char *what)
{
	printk("swap: %s error on %s, sector %llu of it, slot %u: %s\n",
	       io->bio.write ? "write" : "read", io->bio.dev->name,
	       (unsigned long long)io->bio.sector,
	       (unsigned)(io->bio.sector / SECTORS_PER_PAGE), what);
}

/* ---- A drive that says "done" and has moved nothing ---- */

/*
 * Before a frame is read into, each sector of it gets a mark at both ends. A sector that still has
 * both was never filled: what lies in it is the frame's last owner's. (Contents that happen to
 * be the marks, 64 bits of a sector's own, cost their owner the page.)
 */
enum { SECTOR_WORDS = SECTOR_BYTES / sizeof(uint32_t) };

static uint32_t mark_of(const struct page *p, unsigned sector)
{
	return (p->private + sector) * 2654435761u;	/* Knuth's multiplier: scattered bits */
}

static void set_marks(struct page *p)
{
	uint32_t *word = page_address(p);

	for (unsigned i = 0; i < SECTORS_PER_PAGE; i++, word += SECTOR_WORDS) {
		word[0] = mark_of(p, i);
		word[SECTOR_WORDS - 1] = ~mark_of(p, i);
	}
}

static bool marks_left(const struct page *p)
{
	const uint32_t *word = page_address(p);

	for (unsigned i = 0; i < SECTORS_PER_PAGE; i++, word += SECTOR_WORDS)
		if (word[0] == mark_of(p, i) && word[SECTOR_WORDS - 1] == ~mark_of(p, i))
			return true;
	return false;
}

static void read_done(struct bio *b)
{
	struct swap_io *io = b->private;
	struct page *p = io->page;

	if (!b->error && marks_left(p))
		b->error = -EIO;
	TRACE(SWAP_IN_DONE, page_pfn(p), p->private, b->error);
	if (b->error) {
		log_error(io, "whoever needs this page gets SIGBUS");
		COUNT(swap_read_errors);
		page_set(p, PG_ERROR);
	} else {
		page_set(p, PG_UPTODATE);
	}
	io_give(io);
	page_unlock(p);
}

/* A disk that does nothing but fail is given up (swap_area_takes()). */
static void count_write(struct swap_area *a, int error)
{
	a->failed_writes = error ? a->failed_writes + 1 : 0;
	if (a->failed_writes == FAILED_WRITES_MAX)
		printk("swap: %s fails every write; no more is sent there\n", a->dev->name);
}

static void write_done(struct bio *b)
{
	struct swap_io *io = b->private;
	struct page *p = io->page;
	bool rotate = page_is(p, PG_RECLAIM) && !b->error;

	TRACE(SWAP_OUT_DONE, page_pfn(p), p->private, b->error);
	count_write(swap_entry_to_area((swap_entry){ p->private }), b->error);
	if (b->error) {
		log_error(io, "the slot is retired, its page stays in memory");
		COUNT(swap_bad_slots);
		page_set(p, PG_DIRTY | PG_ERROR);
	}
	page_clear(p, PG_RECLAIM);
	if (rotate)
		lru_rotate(p);
	io_give(io);
	page_end_writeback(p);
	page_drop(p);
}

/* Nobody may write to the area any more: the page is as after a write error. */
static void refuse_write(struct page *p)
{
	page_set(p, PG_DIRTY | PG_ERROR);
	page_clear(p, PG_RECLAIM);
	page_unlock(p);
}

/*
 * Start writing a locked page of the swap cache: see swap.h. The page is unmapped, so
 * nobody changes it unless it is mapped again, and then its PTE gets dirty. The extra
 * count of frame.7 is taken here and dropped by write_done(). Sleeps for a bio.
 */
void swap_write(struct page *p)
{
	swap_entry e = { p->private };
	struct swap_io *io;

	KASSERT2(page_is(p, PG_LOCKED) && page_is(p, PG_SWAPCACHE), "swap.4", page_pfn(p), e.v);
	KASSERT2(!page_is(p, PG_WRITEBACK), "frame.7", page_pfn(p), e.v);
	KASSERT2(page_is(p, PG_UPTODATE), "swap.6", page_pfn(p), e.v);
	if (!swap_area_writable(swap_entry_to_area(e))) {
		refuse_write(p);
		return;
	}
	if (reclaim->swap_io)
		reclaim->swap_io(p, true);
	io = io_take(p, true);
	page_clear(p, PG_DIRTY);
	page_set(p, PG_WRITEBACK);
	page_hold(p);
	COUNT(pswpout);
	TRACE(SWAP_OUT, page_pfn(p), e.v, 0);
	page_unlock(p);
	io_submit(io, true, write_done);
}

void swap_read_start(struct page *p)
{
	struct swap_io *io;

	KASSERT2(page_is(p, PG_LOCKED) && page_is(p, PG_SWAPCACHE), "swap.4",
		 page_pfn(p), p->private);
	if (reclaim->swap_io)
		reclaim->swap_io(p, false);
	io = io_take(p, false);
	page_clear(p, PG_ERROR | PG_UPTODATE);
	set_marks(p);
	COUNT(pswpin);
	TRACE(SWAP_IN, page_pfn(p), p->private, 0);
	io_submit(io, false, read_done);
}
