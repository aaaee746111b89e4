/*
 * The elevator of Linux 2.4: one list in sector order, reads and writes alike, with a limit
 * on how often a request may be overtaken. docs/history.md 8.1 tells the rules and their
 * source. A request is born with a sequence number, smaller for reads; each transfer
 * that looks past it costs it one, each that merges ahead of it as many as it has sectors,
 * and once the number is used up nothing passes any more.
 */
#include "drivers/elevator.h"

enum { LINUS_READ_LATENCY = 8192, LINUS_WRITE_LATENCY = 16384 };	/* sectors */

/*
 * True if `sector` belongs between `r` and the request behind it: within their rising
 * run, or where the order wraps from the end of one sweep to the start of the next.
 */
static bool fits_behind(const struct block_queue *q, const struct request *r, sector_t sector)
{
	const struct request *next;

	if (r->link.next == &q->requests)
		return false;		/* the end is where it goes without a place */
	next = list_entry(r->link.next, struct request, link);
	if (r->sector < next->sector)
		return r->sector < sector && sector < next->sector;
	return sector > r->sector || sector < next->sector;
}

/*
 * Where `s` goes (docs/history.md 8.1). Walk from the end of the queue; each request that is
 * looked at loses one of its sequence. The first place that fits by sector is remembered, the
 * walk goes on for a request to merge with; one that won't be overtaken (sequence used up, or
 * elevator_stops()) ends it. With no place found the transfer goes to the end. A merge with a
 * request of less sequence left than the transfer has sectors is not allowed, and ends the walk
 * too. Returns the place. Queue's lock held; never sleeps.
 */
struct elevator_place elevator_linus_place(struct block_queue *q, const struct elevator_span *s)
{
	struct elevator_place p = { MERGE_NONE, NULL, q->requests.prev };
	bool found = false;

	for (struct list *l = q->requests.prev; l != &q->requests; l = l->prev) {
		struct request *r = list_entry(l, struct request, link);
		enum merge how;

		if (r->sequence <= 0)
			break;
		r->sequence--;
		if (!found && fits_behind(q, r, s->sector)) {
			p.after = l;
			found = true;
		}
		if (elevator_far(r, s))
			continue;
		how = elevator_joins(r, s);
		if (how != MERGE_NONE) {
			if (r->sequence < (int32_t)s->sectors)
				break;
			p.how = how;
			p.with = r;
			break;
		}
		if (elevator_stops(r, s))
			break;
	}
	return p;
}

/* Who was overtaken by the merge pays for it; so does a request that grew at its front,
 * because its old first sector now comes later. */
static void linus_merged(struct block_queue *q, const struct elevator_place *p,
			 const struct elevator_span *s)
{
	for (struct list *l = p->with->link.next; l != &q->requests; l = l->next)
		list_entry(l, struct request, link)->sequence -= (int32_t)s->sectors;
	if (p->how == MERGE_FRONT)
		p->with->sequence -= (int32_t)s->sectors;
}

static void linus_inserted(struct request *r)
{
	r->sequence = r->kind == REQUEST_READ ? LINUS_READ_LATENCY : LINUS_WRITE_LATENCY;
}

const struct elevator_ops elevator_linus = {
	.name = "linus",
	.place = elevator_linus_place,
	.merged = linus_merged,
	.inserted = linus_inserted,
};
