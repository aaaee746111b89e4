/* disk=model:fixed: 200 us for a request and 30 us more for each 4 KiB, wherever it lies
 * (docs/formats.md, "The modelled drive"). */
#include "drivers/model.h"

enum { FIXED_REQUEST_NS = 200000, FIXED_PAGE_NS = 30000 };

static ns_t fixed_service_ns(void *drive, const struct model_request *r, ns_t now)
{
	(void)drive;
	(void)now;
	return FIXED_REQUEST_NS + r->sectors * (FIXED_PAGE_NS / SECTORS_PER_PAGE);
}

const struct disk_model model_fixed = { .name = "fixed", .service_ns = fixed_service_ns };
