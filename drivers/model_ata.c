/* The drives that have names: ordinary IDE disks of two years. Where the figures come from:
 * docs/formats.md, "The modelled drive". */
#include "drivers/model.h"
#include "drivers/model_drive.h"

/* That of the qsbench, AIM7, ddtest and compile threads. */
static const uint32_t facts_2001[DRIVE_FACTS] = {
	[FACT_RPM] = 7200,
	[FACT_SEEK_MIN_US] = 800, [FACT_SEEK_AVG_US] = 8500, [FACT_SEEK_MAX_US] = 15000,
	[FACT_OUTER_KBS] = 35000, [FACT_INNER_KBS] = 25000,
	[FACT_HEADS] = 2, [FACT_CAPACITY_MB] = 40000, [FACT_OFFSET_MB] = 0,
	[FACT_BUS_KBS] = 66000, [FACT_COMMAND_US] = 200, [FACT_JITTER_US] = 0,
	[FACT_READ_BUFFER_KB] = 512, [FACT_WRITE_BUFFER_KB] = 256,
};

/* That of the hogmem thread. */
static const uint32_t facts_1999[DRIVE_FACTS] = {
	[FACT_RPM] = 5400,
	[FACT_SEEK_MIN_US] = 1500, [FACT_SEEK_AVG_US] = 9500, [FACT_SEEK_MAX_US] = 18000,
	[FACT_OUTER_KBS] = 14000, [FACT_INNER_KBS] = 9000,
	[FACT_HEADS] = 4, [FACT_CAPACITY_MB] = 8000, [FACT_OFFSET_MB] = 0,
	[FACT_BUS_KBS] = 33000, [FACT_COMMAND_US] = 300, [FACT_JITTER_US] = 0,
	[FACT_READ_BUFFER_KB] = 128, [FACT_WRITE_BUFFER_KB] = 0,
};

const struct disk_model model_ata2001 = {
	.name = "ata2001", .facts = facts_2001,
	.create = drive_create, .service_ns = drive_service_ns, .stats = drive_stats,
	.check = drive_check,
};

const struct disk_model model_ata1999 = {
	.name = "ata1999", .facts = facts_1999,
	.create = drive_create, .service_ns = drive_service_ns, .stats = drive_stats,
	.check = drive_check,
};
