/*
 * Elevators: in which order a disk's requests go out, and which bios join one.
 *
 * An elevator is asked once for every transfer. It walks the queue from its end and never
 * past a request that elevator_stops() names, so that two transfers of one sector, one of
 * them a write, happen in the order in which they were submitted (block.3).
 */
#ifndef DRIVERS_ELEVATOR_H
#define DRIVERS_ELEVATOR_H

#include "drivers/queue.h"

enum merge { MERGE_NONE, MERGE_BACK, MERGE_FRONT };

/* A transfer that looks for its place; `kind` is REQUEST_READ or REQUEST_WRITE. */
struct elevator_span {
	sector_t sector;		/* on the disk */
	uint32_t sectors;
	enum request_kind kind;
};

struct elevator_place {
	enum merge how;
	struct request *with;		/* MERGE_BACK, MERGE_FRONT: the request to join */
	struct list *after;		/* MERGE_NONE: a new request goes behind this link */
};

struct elevator_ops {
	const char *name;		/* elevator=NAME */
	/* Where `s` goes. May age the requests that it looks at. Queue's lock held. */
	struct elevator_place (*place)(struct block_queue *q, const struct elevator_span *s);
	/* `s` has joined p->with, or became the request `r`. Queue's lock held. */
	void (*merged)(struct block_queue *q, const struct elevator_place *p,
		       const struct elevator_span *s);
	void (*inserted)(struct request *r);
};

extern const struct elevator_ops elevator_noop, elevator_linus;
/* place() of elevator_linus. */
struct elevator_place elevator_linus_place(struct block_queue *q, const struct elevator_span *s);

/* The elevator named by elevator=; the default, with a word in the log, if there is none
 * of that name. */
const struct elevator_ops *elevator_chosen(void);

/* True if `s` and `r` neither touch nor overlap, so that the two tests below need not be made:
 * nearly always, and this is where a walk over a long queue spends its time. */
static inline bool elevator_far(const struct request *r, const struct elevator_span *s)
{
	return (s->sector > r->sector + r->sectors || r->sector > s->sector + s->sectors) &&
	       r->kind != REQUEST_FLUSH;
}

/* How `s` could join `r`: contiguous, of one kind, and not too long together. */
enum merge elevator_joins(const struct request *r, const struct elevator_span *s);
/* True if `s` must not overtake `r`: a flush, or they overlap and one of them writes. */
bool elevator_stops(const struct request *r, const struct elevator_span *s);

#endif
