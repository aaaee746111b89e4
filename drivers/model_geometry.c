/*
 * The mechanics of a modelled drive: zones and tracks, the seek curve, the platter's angle
 * (docs/formats.md, "The modelled drive"). Integers only.
 */
#include "drivers/model_drive.h"

enum { NS_PER_US = 1000, ZONE_STEPS = DRIVE_ZONES - 1, TRACK_SECTORS_LEAST = 32 };
enum { NEARLY_A_TURN = 10000 };		/* one part of so many is rounding */

/* ---- The seek curve ---- */

static uint64_t square_root(uint64_t n)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit > 0; bit >>= 1)
		if ((root | bit) * (root | bit) <= n)
			root |= bit;
	return root;
}

/* table[] at i / 256 + rest / (256 * 2^24), in 1 / 2^30; rest < 2^24. */
static uint32_t interpolate(const uint32_t *table, uint32_t i, uint32_t rest)
{
	return table[i] + (uint32_t)((uint64_t)(table[i + 1] - table[i]) * rest >> 24);
}

/* log2(n) in 1 / DRIVE_LOG_ONE; n > 0. */
static uint32_t log2_of(uint32_t n)
{
	unsigned whole = 31 - (unsigned)__builtin_clz(n);
	uint32_t part = n << (31 - whole) << 1;		/* n / 2^whole - 1, in 1 / 2^32 */

	return whole * DRIVE_LOG_ONE +
	       (interpolate(powers_log2, part >> 24, part & 0xffffff) >> (POWERS_SHIFT - 24));
}

/* 2^-y in 1 / 2^30, of y in 1 / DRIVE_LOG_ONE. */
static uint32_t exp2_minus(uint64_t y)
{
	uint64_t whole = (y + DRIVE_LOG_ONE - 1) / DRIVE_LOG_ONE;
	uint32_t part = (uint32_t)(whole * DRIVE_LOG_ONE - y);	/* 2^-y = 2^part / 2^whole */

	if (whole > POWERS_SHIFT)
		return 0;
	return interpolate(powers_exp2, part >> 16, (part & 0xffff) << 8) >> whole;
}

/*
 * The power p of the seek curve min + span * x^p, so that its mean over random pairs is the
 * average: their distance has the density 2(1 - x), so E[x^p] = 2 / ((p + 1)(p + 2)), which
 * shall be mean = (avg - min) / span; hence p = (sqrt(1 + 8 / mean) - 3) / 2. In
 * 1 / DRIVE_POWER_ONE, which is 2^21: half of a root in 1 / 2^20. 0 < rise < span < 2^20.
 */
static uint32_t seek_power(uint32_t rise, uint32_t span)
{
	uint64_t square = (((uint64_t)rise + 8ull * span) << 40) / rise;

	return (uint32_t)(square_root(square) - (3ull << 20));
}

ns_t drive_seek_ns(const struct drive *d, uint32_t distance)
{
	uint64_t y;

	distance = MIN(distance, d->cylinders);		/* the last zone may end a little later */
	if (d->seek_span_ns == 0 || distance <= 1)
		return d->seek_min_ns;
	y = (uint64_t)(d->log2_cylinders - log2_of(distance - 1)) * d->seek_power / DRIVE_POWER_ONE;
	return d->seek_min_ns + (d->seek_span_ns * exp2_minus(y) >> POWERS_SHIFT);
}

ns_t drive_switch_ns(const struct drive *d)
{
	return d->seek_min_ns;
}

/* ---- Places ---- */

/* Sectors a track of zone `z`; the rate falls linearly over the zones. */
static uint32_t track_sectors(const uint32_t *facts, unsigned z)
{
	uint64_t rate = (uint64_t)facts[FACT_OUTER_KBS] * (ZONE_STEPS - z) +
			(uint64_t)facts[FACT_INNER_KBS] * z;	/* times ZONE_STEPS */

	return (uint32_t)(rate * 60000 / (SECTOR_BYTES * ZONE_STEPS) / facts[FACT_RPM]);
}

const char *drive_facts_fault(const uint32_t *facts)
{
	uint32_t min = facts[FACT_SEEK_MIN_US], avg = facts[FACT_SEEK_AVG_US];
	uint32_t max = facts[FACT_SEEK_MAX_US];

	if (!(min < avg && avg < max) && !(min == avg && avg == max))
		return "seeks: not least < average < most, nor all alike";
	if ((uint64_t)(avg - min) * 100 < max - min)
		return "seeks: the average is all but the least";
	if (facts[FACT_INNER_KBS] > facts[FACT_OUTER_KBS])
		return "the inner rate is above the outer one";
	if (track_sectors(facts, ZONE_STEPS) < TRACK_SECTORS_LEAST)
		return "a track has less than 32 sectors at that rate";
	return NULL;
}

static void lay_out_zones(struct drive *d, const uint32_t *facts)
{
	uint64_t capacity = (uint64_t)facts[FACT_CAPACITY_MB] * 1000000 / SECTOR_BYTES;
	uint32_t all = 0, zone_tracks, track = 0;
	sector_t first = 0;

	for (unsigned z = 0; z < DRIVE_ZONES; z++)
		all += track_sectors(facts, z);
	d->cylinders = (uint32_t)(capacity * DRIVE_ZONES / ((uint64_t)d->heads * all)) + 1;
	zone_tracks = (d->cylinders / DRIVE_ZONES + 1) * d->heads;
	for (unsigned z = 0; z < DRIVE_ZONES; z++) {
		d->zones[z] = (struct drive_zone){ first, track, track_sectors(facts, z) };
		first += (sector_t)zone_tracks * d->zones[z].track_sectors;
		track += zone_tracks;
	}
	d->sectors = first;
}

void drive_lay_out(struct drive *d, const uint32_t *facts, uint32_t draw)
{
	uint32_t span = facts[FACT_SEEK_MAX_US] - facts[FACT_SEEK_MIN_US];

	d->rpm = facts[FACT_RPM];
	d->heads = facts[FACT_HEADS];
	d->seek_min_ns = (ns_t)facts[FACT_SEEK_MIN_US] * NS_PER_US;
	d->seek_span_ns = (ns_t)span * NS_PER_US;
	if (span > 0)
		d->seek_power = seek_power(facts[FACT_SEEK_AVG_US] - facts[FACT_SEEK_MIN_US], span);
	d->angle = (uint64_t)draw * (DRIVE_TURN >> 8) >> 24;
	d->skew = d->seek_min_ns * d->rpm % DRIVE_TURN;
	d->command_ns = (ns_t)facts[FACT_COMMAND_US] * NS_PER_US;
	d->jitter_ns = facts[FACT_JITTER_US] * (uint32_t)NS_PER_US;
	d->draw = draw | 1;			/* xorshift never leaves 0 */
	d->bus_kbs = facts[FACT_BUS_KBS];
	d->read_buffer = facts[FACT_READ_BUFFER_KB] * (1024 / SECTOR_BYTES);
	d->write_buffer = facts[FACT_WRITE_BUFFER_KB] * (1024 / SECTOR_BYTES);
	d->offset = (sector_t)facts[FACT_OFFSET_MB] * 1000000 / SECTOR_BYTES;
	lay_out_zones(d, facts);
	d->log2_cylinders = log2_of(d->cylinders);
	d->arm = drive_place(d, 0);
}

struct drive_place drive_place(const struct drive *d, sector_t sector)
{
	const struct drive_zone *z = &d->zones[DRIVE_ZONES - 1];
	struct drive_place p;
	uint32_t track;

	while (sector < z->first)
		z--;
	track = (uint32_t)((sector - z->first) / z->track_sectors);
	p.sector = (uint32_t)(sector - z->first - (sector_t)track * z->track_sectors);
	p.track = z->track + track;
	p.cylinder = p.track / d->heads;
	p.head = p.track % d->heads;
	p.track_sectors = z->track_sectors;
	return p;
}

/* ---- Turning ---- */

ns_t drive_pass_ns(const struct drive *d, uint32_t sectors, uint32_t per_track)
{
	return sectors * DRIVE_TURN / ((uint64_t)per_track * d->rpm);
}

uint32_t drive_passed(const struct drive *d, ns_t ns, uint32_t per_track)
{
	return (uint32_t)(ns * d->rpm * per_track / DRIVE_TURN);
}

/* How far the platter must turn from `now` until the place begins, in ns. What is missed
 * by no more than rounding is there now. */
static ns_t rotation_ns(const struct drive *d, const struct drive_place *p, ns_t now)
{
	uint64_t is = (now % DRIVE_TURN * d->rpm + d->angle) % DRIVE_TURN;
	uint64_t wanted = p->sector * DRIVE_TURN / p->track_sectors + p->track * d->skew;
	uint64_t wait = (wanted % DRIVE_TURN + DRIVE_TURN - is) % DRIVE_TURN;

	return wait > DRIVE_TURN - DRIVE_TURN / NEARLY_A_TURN ? 0 : wait / d->rpm;
}

/* Move the arm to the place. */
static ns_t arm_to(const struct drive *d, const struct drive_place *p)
{
	uint32_t from = d->arm.cylinder, to = p->cylinder;

	if (from == to)
		return p->head == d->arm.head ? 0 : drive_switch_ns(d);
	return drive_seek_ns(d, from < to ? to - from : from - to);
}

ns_t drive_media(struct drive *d, ns_t now, sector_t sector, uint32_t sectors,
		 struct model_times *times)
{
	struct drive_place p = drive_place(d, sector);
	ns_t seek = arm_to(d, &p), rotation = rotation_ns(d, &p, now + seek), transfer = 0;

	for (;;) {
		uint32_t pass = MIN(sectors, p.track_sectors - p.sector);

		transfer += drive_pass_ns(d, pass, p.track_sectors);
		sector += pass;
		sectors -= pass;
		d->arm = p;
		if (sectors == 0)
			break;
		transfer += drive_switch_ns(d);
		p = drive_place(d, sector);
	}
	d->arm_next = sector;
	times->seek_ns += seek;
	times->rotation_ns += rotation;
	times->transfer_ns += transfer;
	return now + seek + rotation + transfer;
}
