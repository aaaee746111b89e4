/*
 * The modelled drive against another model of the same drive, the one that Linux is measured
 * on: tests/drive/arrivals.txt holds requests as they came in runs, and what the other one
 * took (tests/drive/peer.py).
 * links: drivers/model_ata.c drivers/model_drive.c drivers/model_geometry.c drivers/model_powers.c
 * links: mm/frame.c mm/page.c mm/slab.c
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/model_drive.h"
#include "shim.h"

enum { READS, WRITES, SEEK, ROTATION, TRANSFER, CLASSES };
enum { NS_PER_US = 1000, PER_CENT = 2 };

static const char *const class_names[CLASSES] = { "reads", "writes", "seek", "rotation", "transfer" };
static uint64_t ours[CLASSES], theirs[CLASSES];		/* us, over all lists */

static bool alike(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) * 100 <= b * PER_CENT;
}

/* The list is over: what both took for it, all together and then for each class. */
static void end_list(const struct drive *d, const uint64_t *spent, const uint64_t *their)
{
	const struct model_stats *s = &d->stats;
	const uint64_t our[CLASSES] = {
		spent[READS] / NS_PER_US, spent[WRITES] / NS_PER_US,
		(s->read.seek_ns + s->write.seek_ns) / NS_PER_US,
		(s->read.rotation_ns + s->write.rotation_ns) / NS_PER_US,
		(s->read.transfer_ns + s->write.transfer_ns) / NS_PER_US,
	};

	for (unsigned c = 0; c < CLASSES; c++) {
		ours[c] += our[c];
		theirs[c] += their[c];
		printf("# %s %" PRIu64 " us, the peer's %" PRIu64 "\n", class_names[c], our[c],
		       their[c]);
	}
	CHECK(alike(our[READS] + our[WRITES], their[READS] + their[WRITES]));
}

static struct drive *start_list(const char *line, uint64_t *spent)
{
	printf("%s", line);
	spent[READS] = spent[WRITES] = 0;
	return model_ata2001.create("hda", 1, model_ata2001.facts, 0);
}

static unsigned play(FILE *f)
{
	uint64_t spent[2] = { 0 }, their[CLASSES];
	struct model_request r;
	struct drive *d = NULL;
	unsigned count = 0;
	ns_t now = 0;
	char line[100], kind;
	uint64_t us;

	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#') {
			d = start_list(line, spent);
			now = 0;
		} else if (sscanf(line, "= %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
				  &their[READS], &their[WRITES], &their[SEEK],
				  &their[ROTATION], &their[TRANSFER]) == CLASSES) {
			end_list(d, spent, their);
		} else {
			CHECK(sscanf(line, "%" SCNu64 " %c %" SCNu64 " %" SCNu32, &us, &kind,
				     &r.sector, &r.sectors) == 4);
			r.write = kind == 'w';
			now += us * NS_PER_US;
			spent[r.write ? WRITES : READS] += drive_service_ns(d, &r, now);
			CHECK(drive_check(d) == NULL);
			count++;
		}
	}
	return count;
}

int main(void)
{
	FILE *f = fopen("tests/drive/arrivals.txt", "r");
	unsigned requests;

	shim_machine(8u << 20);
	CHECK(f != NULL);
	requests = f ? play(f) : 0;
	CHECK(requests > 3000);
	tap_checks("lab-drive-12", "each list of arrivals takes as long as on the peer's drive, within 2 %");
	for (unsigned c = 0; c < CLASSES; c++)
		CHECK(alike(ours[c], theirs[c]));
	tap_checks("lab-drive-13", "over all lists reads, writes, seeks, rotation and transfer do so, each");
	return tap_done();
}
