/* Which modelled drive is in force: disk=real, or disk=model:NAME; the lab has one always,
 * unless it is told otherwise. */
#include "drivers/model.h"
#include "drivers/queue.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/timer.h"
#include "mm/audit.h"

PARAM_STRING(disk_name, "disk", "");

/* Above all that can be set. */
enum { NOT_SET = UINT32_MAX };

/* What disk.NAME= says; once model_init() is through, what is in force, 0 where there is no
 * such drive. */
static uint32_t facts[DRIVE_FACTS] = {
	NOT_SET, NOT_SET, NOT_SET, NOT_SET, NOT_SET, NOT_SET, NOT_SET,
	NOT_SET, NOT_SET, NOT_SET, NOT_SET, NOT_SET, NOT_SET, NOT_SET,
};

#define FACT_PARAM(fact, param_name, lo, hi)				\
	static const struct param param_##fact PARAM_SECTION =		\
		{ "disk." param_name, PARAM_KIND_U32, &facts[fact], lo, hi }

FACT_PARAM(FACT_RPM, "rpm", 60, 100000);
FACT_PARAM(FACT_SEEK_MIN_US, "seek_min_us", 0, 1000000);
FACT_PARAM(FACT_SEEK_AVG_US, "seek_avg_us", 0, 1000000);
FACT_PARAM(FACT_SEEK_MAX_US, "seek_max_us", 0, 1000000);
FACT_PARAM(FACT_OUTER_KBS, "outer_kbs", 1, 10000000);
FACT_PARAM(FACT_INNER_KBS, "inner_kbs", 1, 10000000);
FACT_PARAM(FACT_HEADS, "heads", 1, 255);
FACT_PARAM(FACT_CAPACITY_MB, "capacity_mb", 1, 2000000);
FACT_PARAM(FACT_OFFSET_MB, "offset_mb", 0, 2000000);
FACT_PARAM(FACT_BUS_KBS, "bus_kbs", 1, 10000000);
FACT_PARAM(FACT_COMMAND_US, "command_us", 0, 1000000);
FACT_PARAM(FACT_JITTER_US, "jitter_us", 0, 1000000);
FACT_PARAM(FACT_READ_BUFFER_KB, "read_buffer_kb", 0, 65536);
FACT_PARAM(FACT_WRITE_BUFFER_KB, "write_buffer_kb", 0, 65536);

static const struct disk_model *const models[] = { &model_fixed, &model_ata2001, &model_ata1999 };
static const char prefix[] = "model:";
static const struct disk_model *model;		/* NULL: disk=real */

static const struct disk_model *find(const char *name)
{
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	for (unsigned i = 0; i < ARRAY_LEN(models); i++)
		if (strcmp(models[i]->name, name + sizeof(prefix) - 1) == 0)
			return models[i];
	return NULL;
}

static void choose_model(void)
{
	const char *dflt = lab_mode() ? "model:ata2001" : "real";

	model = find(disk_name);
	if (model || strcmp(disk_name, "real") == 0)
		return;
	if (disk_name[0] != '\0')
		printk("model: no disk \"%s\", using %s\n", disk_name, dflt);
	strlcpy(disk_name, dflt, sizeof(disk_name));
	model = find(disk_name);
}

/* The drive's own facts, but for those that were set; all its own if that makes no drive. */
static void complete_facts(const uint32_t *own)
{
	const char *fault;

	for (unsigned i = 0; i < DRIVE_FACTS; i++)
		if (facts[i] == NOT_SET)
			facts[i] = own[i];
	fault = drive_facts_fault(facts);
	if (fault) {
		printk("model: no drive is like that: %s; disk.NAME= ignored\n", fault);
		memcpy(facts, own, sizeof(facts));
	}
}

static void forget_facts(void)
{
	bool any = false;

	for (unsigned i = 0; i < DRIVE_FACTS; i++)
		any = any || facts[i] != NOT_SET;
	if (any)
		printk("model: disk.NAME= says nothing of disk=%s; ignored\n", disk_name);
	memset(facts, 0, sizeof(facts));
}

void model_init(void)
{
	choose_model();
	if (model)
		timer_be_exact();
	if (model && model->facts)
		complete_facts(model->facts);
	else
		forget_facts();
}

void model_attach(struct block_dev *disk)
{
	if (!model || !model->create)
		return;
	disk->queue->model = model->create(disk->name, disk->sectors, facts,
					   random_of(disk->name));
	if (!disk->queue->model)
		printk("model: %s: no memory for its drive; it takes no time\n", disk->name);
}

ns_t model_service_ns(struct block_dev *disk, const struct model_request *r, ns_t now)
{
	if (!model || (model->create && !disk->queue->model))
		return 0;
	return model->service_ns(disk->queue->model, r, now);
}

static void report_times(const char *disk, const char *what, const struct model_times *t)
{
	const struct { const char *field; uint64_t value; } rows[] = {
		{ "seek_ns", t->seek_ns }, { "rotation_ns", t->rotation_ns },
		{ "transfer_ns", t->transfer_ns }, { "buffer_ns", t->buffer_ns },
		{ "buffer_hits", t->buffer_hits },
	};

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		report("@disk %s model_%s%s %llu\n", disk, what, rows[i].field,
		       (unsigned long long)rows[i].value);
}

void model_report(const struct block_dev *disk)
{
	struct model_stats s;

	if (!model || !model->stats || !disk->queue->model)
		return;
	model->stats(disk->queue->model, &s);
	report("@disk %s model_reads %llu\n", disk->name, (unsigned long long)s.read.requests);
	report("@disk %s model_writes %llu\n", disk->name, (unsigned long long)s.write.requests);
	report("@disk %s model_flushes %llu\n", disk->name, (unsigned long long)s.flushes);
	report("@disk %s model_read_sectors %llu\n", disk->name,
	       (unsigned long long)s.read.sectors);
	report("@disk %s model_write_sectors %llu\n", disk->name,
	       (unsigned long long)s.write.sectors);
	report_times(disk->name, "", &s.read);
	report_times(disk->name, "write_", &s.write);
}

unsigned model_check(const struct block_dev *disk)
{
	const char *broken = disk->queue->model ? model->check(disk->queue->model) : NULL;

	return broken ? audit_violation(broken, "%s: the modelled drive's buffers", disk->name) : 0;
}
