/* disk=model:fixed: 200 us for a request and 30 us more for each 4 KiB, wherever it lies
 * (docs/formats.md, "The lab clock"). */
#include "drivers/model.h"

enum { FIXED_REQUEST_NS = 200000, FIXED_PAGE_NS = 30000 };

static ns_t fixed_service_ns(struct block_dev *disk, sector_t sector, uint32_t sectors,
			     bool write, ns_t now)
{
	(void)disk;
	(void)sector;
	(void)write;
	(void)now;
	return FIXED_REQUEST_NS + sectors * (FIXED_PAGE_NS / SECTORS_PER_PAGE);
}

const struct disk_model model_fixed = { .name = "fixed", .service_ns = fixed_service_ns };
