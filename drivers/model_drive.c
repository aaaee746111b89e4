/*
 * What a modelled drive does with requests: from the media, from the buffer that it fills by
 * reading on, into the write buffer that it empties when the arm is free (docs/formats.md,
 * "The modelled drive").
 *
 * The drive lives from request to request: each first lets it do what it would have done
 * by itself since the last one (catch_up), then decides its own end.
 */
#include "drivers/model_drive.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "mm/slab.h"

enum {
	DESTAGE_SECTORS = 64,		/* written before the drive looks at reads again */
	READ_SOON_SECTORS = 64,		/* worth waiting for while the head comes near */
};

static ns_t bus_ns(const struct drive *d, uint32_t sectors)
{
	return (uint64_t)sectors * SECTOR_BYTES * 1000000 / d->bus_kbs;
}

/* ---- Reading on ---- */

/* The head has passed `n` more sectors at `now`; the buffer forgets the oldest (drive.2). */
static void head_passes(struct drive *d, uint32_t n, ns_t now)
{
	d->head += n;
	d->head_at = now;
	if (d->head - d->first > d->read_buffer)
		d->first = d->head - d->read_buffer;
}

/* Let the head pass what lies from it to sector `to`, as far as it comes until `end`. */
static void pass(struct drive *d, sector_t to, ns_t end)
{
	bool all = true;

	while (all && d->head < to) {
		struct drive_place p = drive_place(d, d->head);
		ns_t begin = d->head_at + (p.sector == 0 ? drive_switch_ns(d) : 0);
		uint32_t n = (uint32_t)MIN(to - d->head, p.track_sectors - p.sector);

		all = begin + drive_pass_ns(d, n, p.track_sectors) <= end;
		if (!all)
			n = end > begin ? drive_passed(d, end - begin, p.track_sectors) : 0;
		if (n == 0)
			return;
		head_passes(d, n, begin + drive_pass_ns(d, n, p.track_sectors));
		d->arm = p;
	}
}

/* The arm is where the head has got to. */
static void stop_reading_on(struct drive *d, ns_t now)
{
	d->reads_on = false;
	d->arm_next = d->head;
	d->free_at = MAX(d->free_at, now);
}

/* Read on until the buffer is full, but not beyond `now`. */
static void read_on(struct drive *d, ns_t now)
{
	if (!d->reads_on)
		return;
	pass(d, d->limit, now);
	if (d->head >= d->limit)
		stop_reading_on(d, d->head_at);
}

/* A request needs the arm at `now`. */
static void take_arm(struct drive *d, ns_t now)
{
	read_on(d, now);
	if (d->reads_on)
		stop_reading_on(d, now);
}

/* ---- The write buffer ---- */

/* Add [first, first + sectors), which is in the buffer from `since` on; extents that touch
 * grow together, what was in the buffer already is replaced (drive.1). */
static void dirty_add(struct drive *d, sector_t first, uint32_t sectors, ns_t since)
{
	sector_t end = first + sectors;
	struct drive_extent *e = d->extents, *last = e + d->extent_count, *next;

	while (e < last && e->first + e->sectors < first)
		e++;
	for (next = e; next < last && next->first <= end; next++) {
		first = MIN(first, next->first);
		end = MAX(end, next->first + next->sectors);
		since = MIN(since, next->since);
		d->dirty_sectors -= next->sectors;
	}
	memmove(e + 1, next, (size_t)(last - next) * sizeof(*e));
	*e = (struct drive_extent){ first, (uint32_t)(end - first), since };
	d->extent_count += 1 - (uint32_t)(next - e);
	d->dirty_sectors += e->sectors;
}

/* The nearest extent upward from the arm; behind the last one comes the first. */
static struct drive_extent *nearest(struct drive *d)
{
	for (uint32_t i = 0; i < d->extent_count; i++)
		if (d->extents[i].first >= d->arm_next)
			return &d->extents[i];
	return &d->extents[0];
}

/* Write the front of one extent as soon as the arm is free. There is one. */
static void destage(struct drive *d)
{
	struct drive_extent *e = nearest(d);
	uint32_t n = MIN(e->sectors, (uint32_t)DESTAGE_SECTORS);

	d->free_at = drive_media(d, MAX(d->free_at, e->since), e->first, n, &d->stats.write);
	e->first += n;
	e->sectors -= n;
	d->dirty_sectors -= n;
	if (e->sectors > 0)
		return;
	d->extent_count--;
	memmove(e, e + 1, (size_t)(d->extents + d->extent_count - e) * sizeof(*e));
}

static void destage_all(struct drive *d)
{
	while (d->extent_count > 0)
		destage(d);
}

enum overlap { OVERLAP_NONE, OVERLAP_PART, OVERLAP_WHOLE };

/* How much of [first, end) is in the write buffer: none, some, or all in one extent. */
static enum overlap overlap(const struct drive *d, sector_t first, sector_t end)
{
	for (uint32_t i = 0; i < d->extent_count; i++) {
		const struct drive_extent *e = &d->extents[i];

		if (first >= e->first && end <= e->first + e->sectors)
			return OVERLAP_WHOLE;
		if (first < e->first + e->sectors && end > e->first)
			return OVERLAP_PART;
	}
	return OVERLAP_NONE;
}

/* What the drive did by itself until `now`: read on, then empty the write buffer. */
static void catch_up(struct drive *d, ns_t now)
{
	read_on(d, now);
	while (!d->reads_on && d->extent_count > 0) {
		ns_t since = UINT64_MAX;

		for (uint32_t i = 0; i < d->extent_count; i++)
			since = MIN(since, d->extents[i].since);
		if (MAX(since, d->free_at) >= now)
			return;
		destage(d);
	}
}

/* ---- Requests; `now` is when the command is understood. Each returns its end. ---- */

/* From the media; then the drive reads on. */
static ns_t read_media(struct drive *d, ns_t now, sector_t first, uint32_t sectors)
{
	take_arm(d, now);
	d->free_at = drive_media(d, MAX(d->free_at, now), first, sectors, &d->stats.read);
	d->first = d->head = first;
	head_passes(d, sectors, d->free_at);
	d->reads_on = d->read_buffer > 0;
	return d->free_at;
}

/* The head is about to come to it. */
static ns_t read_soon(struct drive *d, sector_t end)
{
	pass(d, end, UINT64_MAX);
	d->free_at = d->head_at;
	return d->head_at;
}

static ns_t read_request(struct drive *d, ns_t now, sector_t first, uint32_t sectors,
			 bool *buffered)
{
	sector_t end = first + sectors;
	ns_t over = now + bus_ns(d, sectors), there = over;

	*buffered = true;
	if (overlap(d, first, end) == OVERLAP_WHOLE)
		return over;
	if (overlap(d, first, end) == OVERLAP_PART)
		take_arm(d, now);
	while (overlap(d, first, end) == OVERLAP_PART)
		destage(d);
	*buffered = first >= d->first && (end <= d->head ||
		    (d->reads_on && first <= d->head + READ_SOON_SECTORS));
	if (!*buffered)
		there = read_media(d, now, first, sectors);
	else if (end > d->head)
		there = read_soon(d, end);
	if (d->reads_on)
		d->limit = MIN(end + d->read_buffer, d->sectors);
	return MAX(there, over);
}

static ns_t write_request(struct drive *d, ns_t now, sector_t first, uint32_t sectors,
			  bool *buffered)
{
	take_arm(d, now);
	if (first < d->head && first + sectors > d->first)
		d->first = d->head;
	*buffered = sectors <= d->write_buffer;
	if (!*buffered) {
		destage_all(d);
		d->free_at = drive_media(d, MAX(d->free_at, now), first, sectors,
					 &d->stats.write);
		return d->free_at;
	}
	while (d->dirty_sectors + sectors > d->write_buffer ||
	       d->extent_count == DRIVE_EXTENTS_MAX) {
		destage(d);
		now = MAX(now, d->free_at);
	}
	now += bus_ns(d, sectors);
	dirty_add(d, first, sectors, now);
	return now;
}

static ns_t flush_request(struct drive *d, ns_t now)
{
	d->stats.flushes++;
	if (d->extent_count > 0) {
		take_arm(d, now);
		destage_all(d);
	}
	return MAX(now, d->free_at);	/* the last part may be on its way */
}

/* How long this command takes to be understood: no two by a real drive are alike, and a run whose
 * every wait were measured from the last sector would be the same with every seed. Marsaglia's
 * xorshift, 2003. */
static ns_t command_ns(struct drive *d)
{
	d->draw ^= d->draw << 13;
	d->draw ^= d->draw >> 17;
	d->draw ^= d->draw << 5;
	return d->command_ns + ((uint64_t)d->draw * d->jitter_ns >> 32);
}

ns_t drive_service_ns(void *drive, const struct model_request *r, ns_t now)
{
	struct drive *d = drive;
	struct model_times *times = r->write ? &d->stats.write : &d->stats.read;
	ns_t start = now + command_ns(d), end;
	sector_t first = d->offset + r->sector;
	bool buffered;

	catch_up(d, now);
	if (r->sectors == 0)
		return flush_request(d, start) - now;
	if (r->write)
		end = write_request(d, start, first, r->sectors, &buffered);
	else
		end = read_request(d, start, first, r->sectors, &buffered);
	times->requests++;
	times->sectors += r->sectors;
	if (buffered) {
		times->buffer_hits++;
		times->buffer_ns += end - now;
	}
	return end - now;
}

/* ---- Making and looking ---- */

void *drive_create(const char *disk, sector_t sectors, const uint32_t *facts, uint32_t draw)
{
	struct drive *d = kmalloc(sizeof(*d), GFP_KERNEL);
	uint32_t larger[DRIVE_FACTS];

	if (!d)
		return NULL;
	memset(d, 0, sizeof(*d));
	drive_lay_out(d, facts, draw);
	if (d->offset + sectors <= d->sectors)
		return d;
	memcpy(larger, facts, sizeof(larger));
	larger[FACT_CAPACITY_MB] = (uint32_t)((d->offset + sectors) * SECTOR_BYTES / 1000000) + 1;
	drive_lay_out(d, larger, draw);
	printk("model: %s doesn't fit on a drive of %u MB; its model has %u MB\n", disk,
	       facts[FACT_CAPACITY_MB], larger[FACT_CAPACITY_MB]);
	return d;
}

void drive_stats(const void *drive, struct model_stats *to)
{
	*to = ((const struct drive *)drive)->stats;
}

const char *drive_check(const void *drive)
{
	const struct drive *d = drive;
	uint32_t dirty = 0;

	for (uint32_t i = 0; i < d->extent_count; i++) {
		const struct drive_extent *e = &d->extents[i];

		dirty += e->sectors;
		if (e->sectors == 0 || (i > 0 && e->first <= e[-1].first + e[-1].sectors))
			return "drive.1";
	}
	if (dirty != d->dirty_sectors || dirty > d->write_buffer)
		return "drive.1";
	if (d->head < d->first || d->head - d->first > d->read_buffer)
		return "drive.2";
	return NULL;
}
