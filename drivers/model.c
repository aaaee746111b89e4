/* Which modelled drive is in force: disk=real, or disk=model:NAME; the lab has one always,
 * unless it is told otherwise. */
#include "drivers/model.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/time.h"

PARAM_STRING(disk_name, "disk", "");

static const struct disk_model *const models[] = { &model_fixed };
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

void model_init(void)
{
	const char *dflt = lab_mode() ? "model:fixed" : "real";

	model = find(disk_name);
	if (model || strcmp(disk_name, "real") == 0)
		return;
	if (disk_name[0] != '\0')
		printk("block: no disk \"%s\", using %s\n", disk_name, dflt);
	strlcpy(disk_name, dflt, sizeof(disk_name));
	model = find(disk_name);
}

ns_t model_service_ns(struct block_dev *disk, sector_t sector, uint32_t sectors,
		      bool write, ns_t now)
{
	return model ? model->service_ns(disk, sector, sectors, write, now) : 0;
}
