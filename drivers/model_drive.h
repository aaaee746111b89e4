/*
 * A drive with an arm: one spindle, one request at a time. What model_drive.c (requests and
 * buffers) and model_geometry.c (where things are, and how long the arm takes) share.
 *
 * All time is in ns_t, and all arithmetic in integers. The platter's angle is counted in
 * parts of 60 * 10^9 to the turn: at `rpm` turns a minute, `rpm` of them pass in a
 * nanosecond, exactly.
 *
 * drive.1  the write buffer's extents are sorted, don't touch, and add up to dirty_sectors,
 *          which the buffer holds
 * drive.2  [first, head), what the read buffer holds, fits in it
 */
#ifndef DRIVERS_MODEL_DRIVE_H
#define DRIVERS_MODEL_DRIVE_H

#include "drivers/model.h"
#include "kernel/types.h"

enum { DRIVE_ZONES = 16, DRIVE_EXTENTS_MAX = 128 };
#define DRIVE_TURN	60000000000ull	/* parts of a turn, see above */

/* A band of cylinders with equally long tracks. */
struct drive_zone {
	sector_t first;
	uint32_t track;			/* the first, counted over the whole drive */
	uint32_t track_sectors;
};

/* Where a sector lies. */
struct drive_place {
	uint32_t cylinder, head;
	uint32_t track;			/* cylinder * heads + head */
	uint32_t sector;		/* in the track */
	uint32_t track_sectors;
};

struct drive_extent {
	sector_t first;
	uint32_t sectors;
	ns_t	 since;			/* in the buffer, and may be written */
};

struct drive {
	/* Constant after drive_create(). */
	uint32_t rpm, heads, cylinders;
	ns_t	 seek_min_ns, seek_span_ns;	/* span: from the least to the full stroke */
	uint32_t seek_power;		/* in 1 / DRIVE_POWER_ONE */
	uint32_t log2_cylinders;	/* in 1 / DRIVE_LOG_ONE */
	uint64_t angle, skew;		/* at time 0; of a track's start against the last one's */
	ns_t	 command_ns;
	uint32_t jitter_ns;		/* a command takes up to so much more */
	uint32_t bus_kbs;
	uint32_t read_buffer, write_buffer;	/* sectors */
	sector_t offset;		/* of the served area */
	sector_t sectors;		/* of the whole drive */
	struct drive_zone zones[DRIVE_ZONES];

	uint32_t draw;			/* what the next command's jitter is made of */

	/* The arm: free from then on; where it is; the sector after the last one it passed. */
	ns_t	 free_at;
	struct drive_place arm;
	sector_t arm_next;

	/* drive.2. The head was at sector `head` at `head_at`, and goes on while `reads_on`. */
	sector_t first, head, limit;
	ns_t	 head_at;
	bool	 reads_on;

	struct drive_extent extents[DRIVE_EXTENTS_MAX];	/* drive.1 */
	uint32_t extent_count, dirty_sectors;
	struct model_stats stats;
};

#define DRIVE_POWER_ONE	(1u << 21)
#define DRIVE_LOG_ONE	(1u << 24)

/* model_drive.c: what struct disk_model asks for. */
void *drive_create(const char *disk, sector_t sectors, const uint32_t *facts, uint32_t draw);
ns_t drive_service_ns(void *drive, const struct model_request *r, ns_t now);
void drive_stats(const void *drive, struct model_stats *to);
const char *drive_check(const void *drive);	/* drive.1, drive.2 */

/* Fill in what is constant. The facts are without fault. */
void drive_lay_out(struct drive *d, const uint32_t *facts, uint32_t draw);
struct drive_place drive_place(const struct drive *d, sector_t sector);
/* From one cylinder to another, `distance` > 0 away. */
ns_t drive_seek_ns(const struct drive *d, uint32_t distance);
/* From one track to the next. */
ns_t drive_switch_ns(const struct drive *d);
/* Time in which `sectors` pass on a track of `track_sectors`, and the sectors that pass
 * wholly in `ns`, less than a turn. */
ns_t drive_pass_ns(const struct drive *d, uint32_t sectors, uint32_t track_sectors);
uint32_t drive_passed(const struct drive *d, ns_t ns, uint32_t track_sectors);
/* Move the arm at `now` and let the sectors pass under it; their end. Adds to `times`. */
ns_t drive_media(struct drive *d, ns_t now, sector_t sector, uint32_t sectors,
		 struct model_times *times);

/* log2(1 + i / 256) and 2^(i / 256) in 1 / 2^30 (model_powers.c). */
enum { POWERS_STEPS = 256, POWERS_SHIFT = 30 };
extern const uint32_t powers_log2[POWERS_STEPS + 1], powers_exp2[POWERS_STEPS + 1];

#endif
