/*
 * Request queues: bios become requests, merge, wait in the elevator's order, and leave.
 * Nothing here allocates after queue_create(): requests come from the queue's pool, and
 * bios that find none wait in line, linked through themselves.
 */
#include "drivers/queue.h"
#include "drivers/elevator.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/audit.h"
#include "mm/frame.h"
#include "mm/slab.h"

static const uint32_t small_ram_frames = 32u << 20 >> PAGE_SHIFT;

struct block_queue *queue_create(struct block_dev *disk, const struct disk_ops *ops,
				 void *driver)
{
	unsigned count = frames_total() < small_ram_frames ? QUEUE_POOL_SMALL : QUEUE_POOL;
	struct block_queue *q = kmalloc(sizeof(*q), GFP_KERNEL);
	struct request *pool = kmalloc(count * sizeof(*pool), GFP_KERNEL);

	if (!q || !pool) {
		if (q)
			kfree(q);
		if (pool)
			kfree(pool);
		return NULL;
	}
	*q = (struct block_queue){ .disk = disk, .ops = ops, .driver = driver };
	q->elevator = elevator_chosen();
	q->pool = pool;
	q->pool_count = q->free_count = count;
	spin_init(&q->lock, RANK_BLOCK);
	list_init(&q->requests);
	list_init(&q->waiting);
	list_init(&q->free);
	for (unsigned i = 0; i < count; i++) {
		list_init(&pool[i].bios);
		list_insert_tail(&q->free, &pool[i].link);
	}
	return q;
}

static enum request_kind bio_kind(const struct bio *b)
{
	if (b->sectors == 0)
		return REQUEST_FLUSH;
	return b->write ? REQUEST_WRITE : REQUEST_READ;
}

/* Where the bio lies on the disk. */
static sector_t bio_disk_sector(const struct bio *b)
{
	return b->dev->first + b->sector;
}

/* Make a new request of `b` behind `after`. Lock held; the pool isn't empty. */
static void insert_request(struct block_queue *q, struct bio *b, enum request_kind kind,
			   struct list *after)
{
	struct request *r = list_first(&q->free, struct request, link);

	KASSERT(q->free_count > 0, "queue.1");
	list_remove(&r->link);
	q->free_count--;
	q->queued++;
	r->kind = kind;
	r->sector = bio_disk_sector(b);
	r->sectors = b->sectors;
	r->bio_count = 1;
	list_insert_tail(&r->bios, &b->link);
	list_insert(after, &r->link);
	if (kind == REQUEST_FLUSH)
		r->sequence = 0;
	else
		q->elevator->inserted(r);
}

static void merge_bio(struct block_queue *q, struct bio *b, const struct elevator_place *p,
		      const struct elevator_span *s)
{
	struct request *r = p->with;

	q->elevator->merged(q, p, s);
	if (p->how == MERGE_BACK) {
		list_insert_tail(&r->bios, &b->link);
	} else {
		list_insert(&r->bios, &b->link);
		r->sector = s->sector;
	}
	r->sectors += s->sectors;
	r->bio_count++;
	q->stats.merges++;
	COUNT(disk_merges);
}

/* Put a bio into a request. Lock held. False: it needs a new one and the pool is empty. */
static bool admit(struct block_queue *q, struct bio *b)
{
	struct elevator_span s = { bio_disk_sector(b), b->sectors, bio_kind(b) };
	struct elevator_place p = { MERGE_NONE, NULL, q->requests.prev };

	if (s.kind != REQUEST_FLUSH)
		p = q->elevator->place(q, &s);
	if (p.how != MERGE_NONE) {
		merge_bio(q, b, &p, &s);
		return true;
	}
	if (q->free_count == 0)
		return false;
	insert_request(q, b, s.kind, p.after);
	return true;
}

void queue_add(struct block_queue *q, struct bio *b)
{
	uint32_t flags = spin_lock_irq(&q->lock);

	q->pending++;
	if (!list_empty(&q->waiting) || !admit(q, b)) {
		list_insert_tail(&q->waiting, &b->link);
		q->stats.waits++;
	}
	spin_unlock_irq(&q->lock, flags);
}

/* A request became free: let waiting bios in, in order. Lock held. */
static void admit_waiting(struct block_queue *q)
{
	while (!list_empty(&q->waiting)) {
		struct bio *b = list_first(&q->waiting, struct bio, link);

		list_remove(&b->link);
		if (!admit(q, b)) {
			list_insert(&q->waiting, &b->link);
			return;
		}
	}
}

bool queue_idle_with_work(struct block_queue *q, bool *full)
{
	uint32_t flags = spin_lock_irq(&q->lock);
	bool idle = !q->active && !list_empty(&q->requests);

	*full = !list_empty(&q->waiting);
	spin_unlock_irq(&q->lock, flags);
	return idle;
}

static void count_start(struct block_queue *q, const struct request *r)
{
	COUNT(disk_requests);
	if (r->kind == REQUEST_FLUSH) {
		q->stats.flushes++;
		return;
	}
	q->stats.requests[r->kind]++;
	q->stats.sectors[r->kind] += r->sectors;
}

/*
 * The first request of the queue becomes the active one and is returned; NULL if one is active
 * already or none waits. Counts and traces its start; the queue is plugged no more.
 * Interrupts off; takes RANK_BLOCK; never sleeps.
 */
struct request *queue_next(struct block_queue *q)
{
	uint32_t flags = spin_lock_irq(&q->lock);
	struct request *r = NULL;

	if (!q->active && !list_empty(&q->requests)) {
		r = list_first(&q->requests, struct request, link);
		list_remove(&r->link);
		q->queued--;
		q->active = r;
		q->active_since = clock_ns();
		q->plugged = false;
		count_start(q, r);
		TRACE(DISK, r->sector, r->sectors, r->kind);
	}
	spin_unlock_irq(&q->lock, flags);
	return r;
}

/* Take the first `count` bios off the active request into `done`. Lock held. */
static void detach(struct request *r, unsigned count, struct list *done)
{
	while (count-- > 0) {
		struct bio *b;

		KASSERT(!list_empty(&r->bios), "block.2");
		b = list_first(&r->bios, struct bio, link);
		list_remove(&b->link);
		list_insert_tail(done, &b->link);
		r->sector += b->sectors;
		r->sectors -= b->sectors;
		r->bio_count--;
	}
}

/* The active request has no bios left. Lock held. */
static void retire(struct block_queue *q)
{
	struct request *r = q->active;

	q->stats.busy_ns += clock_ns() - q->active_since;
	q->active = NULL;
	list_insert_tail(&q->free, &r->link);
	q->free_count++;
	admit_waiting(q);
}

/*
 * The first `bios` bios of the active request are done, with `error`. The request shrinks from
 * its front, or goes back to the pool, which lets waiting bios in. Their done() is called after
 * the lock is released, in order, each once (block.2). Returns true if bios of the request are
 * left. From the driver, interrupts off; takes RANK_BLOCK; never sleeps.
 */
bool queue_complete(struct block_queue *q, unsigned bios, int error)
{
	uint32_t flags = spin_lock_irq(&q->lock);
	struct request *r = q->active;
	struct list done = LIST_INIT(done);
	bool left;

	KASSERT(r && bios > 0, "block.2");
	TRACE(DISK_DONE, r->sector, bios, -error);
	detach(r, bios, &done);
	left = r->bio_count > 0;
	if (!left)
		retire(q);
	q->pending -= bios;
	spin_unlock_irq(&q->lock, flags);
	while (!list_empty(&done)) {
		struct bio *b = list_first(&done, struct bio, link);

		list_remove(&b->link);
		b->error = error;
		b->done(b);
	}
	if (!left)
		block_request_freed(q);
	return left;
}

static unsigned check_request(const struct block_queue *q, const struct request *r)
{
	sector_t sector = r->sector;
	uint32_t sectors = 0, bios = 0;
	const struct bio *b;

	list_for_each(b, &r->bios, link) {
		if (r->kind != bio_kind(b) ||
		    (b->sectors && bio_disk_sector(b) != sector + sectors))
			return audit_violation("queue.3", "%s: bio at %llu in request at %llu",
				b->dev->name, (unsigned long long)bio_disk_sector(b),
				(unsigned long long)sector);
		sectors += b->sectors;
		bios++;
	}
	if (bios == 0 || bios != r->bio_count || sectors != r->sectors ||
	    bios > REQUEST_BIOS_MAX || sectors > REQUEST_SECTORS_MAX)
		return audit_violation("queue.3", "%s: request at %llu: %u sectors, bios %u, %u",
			q->disk->name, (unsigned long long)sector, r->sectors, sectors, bios);
	return 0;
}

static unsigned list_length(const struct list *head)
{
	unsigned n = 0;

	for (const struct list *l = head->next; l != head; l = l->next)
		n++;
	return n;
}

/* Check queue.1 to queue.4; prints each violation, returns how many. */
unsigned queue_check(struct block_queue *q)
{
	uint32_t flags = spin_lock_irq(&q->lock);
	unsigned free = list_length(&q->free), queued = list_length(&q->requests);
	unsigned waiting = list_length(&q->waiting), active = q->active != NULL;
	unsigned bios = waiting, bad = 0;
	const struct request *r;

	if (free != q->free_count || queued != q->queued ||
	    free + queued + active != q->pool_count)
		bad += audit_violation("queue.1", "%s: %u free, %u queued, %u active of %u",
				       q->disk->name, free, queued, active, q->pool_count);
	if (waiting && !queued && !active)
		bad += audit_violation("queue.2", "%s: %u bios wait for nothing",
				       q->disk->name, waiting);
	list_for_each(r, &q->requests, link) {
		bad += check_request(q, r);
		bios += r->bio_count;
	}
	bios += q->active ? q->active->bio_count : 0;
	if (bios != q->pending)
		bad += audit_violation("queue.4", "%s: %u bios, %u pending",
				       q->disk->name, bios, q->pending);
	spin_unlock_irq(&q->lock, flags);
	return bad;
}
