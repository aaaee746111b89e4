/*
 * The buffer heads of Linux 2.4 (docs/history.md 2.10). Swap went through the buffer layer,
 * which put one on each page of the swap cache that was written or read; it stayed until the
 * page left the cache, or until shrink_cache met it, mapped or not. Here as there they cost
 * memory, and what it takes to get it: a reader may write nothing out for it.
 *
 * Where this differs from 2.4: nothing is in them. They are counted, and as many frames held
 * as they would fill, packed without gaps. Who finds no frame goes on without (2.4 had some
 * in reserve).
 */
#include "kernel/counters.h"
#include "mm/reclaim/scan/linux24.h"

/* 96 bytes each, and what the slab of 2.4 kept in the frame itself. */
enum { HEADS_PER_FRAME = 40 };

/* used: pages with PG_BUFFER. No lock: nobody sleeps between a look and a change. */
static struct {
	struct list frames;
	uint32_t held, used;
} heads = { .frames = LIST_INIT(heads.frames) };

static bool add_frame(enum gfp flags)
{
	struct page *frame = page_alloc(flags, 0);

	if (!frame)
		return false;
	list_insert_tail(&heads.frames, &frame->lru);
	heads.held++;
	COUNT(buffer_frames);
	return true;
}

/*
 * `p`, locked and in the swap cache, is to be written or read: it gets a buffer head if it has none
 * and there is memory. A writer takes that from the reserve, if it may; a reader sleeps for it.
 */
void linux24_buffer_attach(struct page *p, bool write)
{
	enum gfp flags = write ? GFP_ATOMIC : GFP_WAIT | GFP_NOFS;

	if (page_is(p, PG_BUFFER))
		return;
	if (heads.used == heads.held * HEADS_PER_FRAME && !add_frame(flags))
		return;
	heads.used++;
	page_set(p, PG_BUFFER);
}

/* `p`, locked, gives its buffer head back, if it has one. Never sleeps. */
void linux24_buffer_release(struct page *p)
{
	if (!page_is(p, PG_BUFFER))
		return;
	page_clear(p, PG_BUFFER);
	heads.used--;
	if (heads.used == 0)
		(void)linux24_buffers_shrink();
}

/* Free the frames that no buffer head needs. Returns how many. Never sleeps. */
uint32_t linux24_buffers_shrink(void)
{
	uint32_t freed = 0;

	for (; heads.held * HEADS_PER_FRAME >= heads.used + HEADS_PER_FRAME; heads.held--) {
		struct page *frame = list_first(&heads.frames, struct page, lru);

		list_remove(&frame->lru);
		page_drop(frame);
		freed++;
	}
	return freed;
}
