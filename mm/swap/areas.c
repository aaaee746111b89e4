/*
 * Swap areas: which partitions are used, in which order, and the last look at a
 * header before an area is first written to. An area is a partition of MBR type 0x82
 * whose first page carries mkswap's signature (header.c).
 *
 * Locks: swapon_lock (mutex) for one swapon or swapoff at a time; swap_lock for `state`.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "mm/frame.h"
#include "mm/swap/area.h"

PARAM_STRING(swap_choice, "swap", "auto");
PARAM_STRING(swap_prio, "swap.prio", "");	/* hdb1:5,hdc1:3 */

enum { MBR_TYPE_SWAP = 0x82, PRIORITY_AUTO = -1, PRIORITY_MOST = 32767 };

struct swap_area swap_areas[SWAP_AREAS_MAX];
struct mutex swapon_lock = MUTEX_INIT(swapon_lock, RANK_SWAPON);
static struct waitq header_waiters = WAITQ_INIT(header_waiters);

static int refuse(const char *name, int error, const char *why)
{
	printk("swap: %s is not used: %s\n", name, why);
	return error;
}

/* A free entry of swap_areas[], or NULL. swapon_lock held. */
static struct swap_area *unused_area(void)
{
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++)
		if (swap_areas[i].state == AREA_OFF)
			return &swap_areas[i];
	return NULL;
}

/* Automatic priorities fall: -2, -3, ...: the first area found is used first. */
static int32_t next_lower_priority(void)
{
	int32_t lowest = PRIORITY_AUTO;

	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++)
		if (swap_areas[i].state != AREA_OFF)
			lowest = MIN(lowest, swap_areas[i].priority);
	return lowest - 1;
}

static int partition_refusal(const struct block_dev *dev, const char *name)
{
	if (dev->disk == dev || dev->type != MBR_TYPE_SWAP)
		return refuse(name, -EINVAL, "it is not a partition of type 0x82");
	if (dev->broken)
		return refuse(name, -EINVAL, "its entry in the partition table is wrong");
	if (dev->claimed)
		return refuse(name, -EBUSY, "it is in use already");
	return 0;
}

/* Fill `a` from the header in `page` (kept for the check before the first write). */
static int area_from_header(struct swap_area *a, struct block_dev *dev, struct page *page)
{
	struct swap_header_info info;
	int error;

	error = block_transfer(dev, 0, page_address(page), SECTORS_PER_PAGE, false);
	if (error)
		return refuse(dev->name, error, "its header can't be read");
	error = swap_header_parse(page_address(page), dev->sectors, &info);
	if (error)
		return refuse(dev->name, error, info.why);
	error = slots_create(a, info.size);
	if (error)
		return refuse(dev->name, error, "there is no memory for its slot map");
	for (uint32_t i = 0; i < info.bad_count; i++)
		slots_mark_bad(a, info.bad[i]);
	memcpy(a->uuid, info.uuid, SWAP_UUID_BYTES);
	a->dev = dev;
	a->header = HEADER_UNCHECKED;
	a->header_page = page;
	a->turn = 0;
	a->failed_writes = 0;
	a->stays = false;
	return 0;
}

static int start_area(struct block_dev *dev, int priority)
{
	struct swap_area *a = unused_area();
	struct page *page;
	int error;

	if (!a)
		return refuse(dev->name, -EBUSY, "there are too many areas");
	page = page_alloc(GFP_KERNEL, 0);
	if (!page)
		return refuse(dev->name, -ENOMEM, "there is no memory for its header");
	error = area_from_header(a, dev, page);
	if (error) {
		page_free(page, 0);
		return error;
	}
	a->priority = priority == PRIORITY_AUTO ? next_lower_priority() : priority;
	dev->claimed = true;
	spin_lock(&swap_lock);
	a->state = AREA_ON;
	spin_unlock(&swap_lock);
	printk("swap: %s: %u slots (%u KiB), %u bad, priority %d\n", dev->name, a->free,
	       a->free * (PAGE_SIZE / 1024), a->bad - 1, a->priority);
	return 0;
}

/* Take partition `name` into service: see swap.h. Takes swapon_lock. Sleeps. */
int swap_on(const char *name, int priority)
{
	struct block_dev *dev = block_find(name);
	int error;

	if (!dev)
		return refuse(name, -ENODEV, "there is no such partition");
	mutex_lock(&swapon_lock);
	error = partition_refusal(dev, name);
	if (!error)
		error = start_area(dev, priority);
	mutex_unlock(&swapon_lock);
	return error;
}

/* ---- At boot ---- */

/* The priority that swap.prio= gives to `name`, or PRIORITY_AUTO. */
static int wished_priority(const char *name)
{
	size_t length = strlen(name);
	const char *s = swap_prio;
	int n = 0;

	while (*s && (strncmp(s, name, length) || s[length] != ':')) {
		s = strchr(s, ',');
		if (!s)
			return PRIORITY_AUTO;
		s++;
	}
	if (!*s)
		return PRIORITY_AUTO;
	for (s += length + 1; *s >= '0' && *s <= '9'; s++)
		n = MIN(n * 10 + (*s - '0'), (int)PRIORITY_MOST);
	return n;
}

struct found {
	const char *names[SWAP_AREAS_MAX];
	unsigned    count;
};

static bool note_candidate(struct block_dev *dev, void *arg)
{
	struct found *f = arg;

	if (dev->disk != dev && dev->type == MBR_TYPE_SWAP)
		f->names[f->count++] = dev->name;
	return f->count < SWAP_AREAS_MAX;
}

/*
 * swap=auto: use every partition of type 0x82 that qualifies. Devices stay for ever, so
 * their names do. Called once at boot, after block_init(). Sleeps.
 */
void swap_init(void)
{
	struct found f = { .count = 0 };

	if (strcmp(swap_choice, "auto") && strcmp(swap_choice, "none"))
		printk("swap: swap=%s is neither auto nor none; auto is meant\n", swap_choice);
	if (!strcmp(swap_choice, "none"))
		return;
	block_for_each(note_candidate, &f);
	for (unsigned i = 0; i < f.count; i++)
		(void)swap_on(f.names[i], wished_priority(f.names[i]));
}

/* ---- Before the first write ---- */

static void check_header_again(struct swap_area *a)
{
	struct swap_header_info info;
	void *header = page_address(a->header_page);
	bool same;

	same = block_transfer(a->dev, 0, header, SECTORS_PER_PAGE, false) == 0 &&
	       swap_header_parse(header, a->dev->sectors, &info) == 0 &&
	       info.size == a->size && !memcmp(info.uuid, a->uuid, SWAP_UUID_BYTES);
	if (!same)
		printk("swap: %s is not written to: its header has changed since swapon\n",
		       a->dev->name);
	a->header = same ? HEADER_GOOD : HEADER_FOREIGN;
}

/*
 * May pages be written to `a`? The first caller reads the header again, others wait for
 * that read, which the driver's time limit ends. Never allocates. Sleeps.
 */
bool swap_area_writable(struct swap_area *a)
{
	if (a->header == HEADER_UNCHECKED) {
		a->header = HEADER_CHECKING;
		check_header_again(a);
		waitq_wake_all(&header_waiters);
	}
	(void)wait_event(&header_waiters, a->header != HEADER_CHECKING, SLEEP_UNKILLABLE, 0,
			 "swap header");
	return a->header == HEADER_GOOD;
}

/* ---- Figures and checks ---- */

/* Fill rows[max], one an area in use. Returns how many. */
unsigned swap_rows(struct abi_swap_row *rows, unsigned max)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SWAP_AREAS_MAX && n < max; i++) {
		const struct swap_area *a = &swap_areas[i];

		if (a->state == AREA_OFF)
			continue;
		memset(&rows[n], 0, sizeof(rows[n]));
		strlcpy(rows[n].name, a->dev->name, sizeof(rows[n].name));
		rows[n].priority = a->priority;
		rows[n].slots = a->size - 1;
		rows[n].used = a->used;
		rows[n].bad = a->bad - 1;
		n++;
	}
	return n;
}
