/* The elevator that does nothing but merge: first come, first served. */
#include "drivers/elevator.h"

static struct elevator_place noop_place(struct block_queue *q, const struct elevator_span *s)
{
	struct elevator_place p = { MERGE_NONE, NULL, q->requests.prev };

	for (struct list *l = q->requests.prev; l != &q->requests; l = l->prev) {
		struct request *r = list_entry(l, struct request, link);

		if (elevator_far(r, s))
			continue;
		p.how = elevator_joins(r, s);
		if (p.how != MERGE_NONE) {
			p.with = r;
			break;
		}
		if (elevator_stops(r, s))
			break;
	}
	return p;
}

static void noop_merged(struct block_queue *q, const struct elevator_place *p,
			const struct elevator_span *s)
{
	(void)q;
	(void)p;
	(void)s;
}

static void noop_inserted(struct request *r)
{
	r->sequence = 0;
}

const struct elevator_ops elevator_noop = {
	.name = "noop",
	.place = noop_place,
	.merged = noop_merged,
	.inserted = noop_inserted,
};
