/* The rules of swap in force: see rules.h. */
#include "mm/swap/rules.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/string.h"
#include "mm/swap.h"

enum { CLUSTER_MIN = 8, CLUSTER_MAX = 4096, UNSET = UINT32_MAX,
       PAGES_PER_MIB = 256, SMALL_MIB = 16 };

PARAM_U32(cluster, "swap.cluster", UNSET, CLUSTER_MIN, CLUSTER_MAX);
PARAM_U32(readahead, "swap.readahead", UNSET, 1, READAHEAD_MAX);
PARAM_U32(readahead_limit, "swap.readahead_limit", UNSET, 0, 1);
PARAM_U32(steal, "swap.steal", UNSET, 0, 1);
PARAM_STRING(free_name, "swap.free", "");
PARAM_STRING(search_name, "swap.search", "");
PARAM_STRING(window_name, "swap.window", "");

static const char *const free_names[SLOT_RULES] = { "keep", "write", "80", "full", "50", "always" };
static const char *const search_names[SLOT_SEARCHES] = { "runs", "2.2", "2.4" };
static const char *const window_names[READ_WINDOWS] = { "aligned", "hole", "pattern", "2.2" };

struct swap_rules swap_rules = { .cluster = 256, .readahead = 16 };

/* What the command line says, or else the era's; `set` then shows what is in force. */
static uint32_t number(uint32_t *set, uint32_t era)
{
	if (*set == UNSET)
		*set = era;
	return *set;
}

/* The same for one of names[count]; panics in words if it is none of them. */
static unsigned choice(const char *parameter, char *set, const char *const *names, unsigned count,
		       unsigned era)
{
	if (!*set)
		strlcpy(set, names[era], PARAM_STRING_BYTES);
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(set, names[i]))
			return i;
	panic("%s=%s: there is no such rule", parameter, set);
}

/* The window that an era says, or has by RAM: docs/history.md 1.8, 2.7. The BIOS may keep a little
 * at RAM's end, so a begun MiB counts. */
static uint32_t era_readahead(uint32_t era)
{
	uint32_t mib = (page_count + PAGES_PER_MIB - 1) / PAGES_PER_MIB;

	if (era == READAHEAD_BY_RAM)
		return mib < SMALL_MIB ? 4 : 8;
	if (era == READAHEAD_BY_RAM_22)
		return mib < SMALL_MIB ? 4 : mib < 2 * SMALL_MIB ? 8 : 16;
	return era;
}

void swap_rules_init(const struct swap_rules *era)
{
	swap_rules = (struct swap_rules){
		.cluster	 = number(&cluster, era->cluster),
		.readahead	 = number(&readahead, era_readahead(era->readahead)),
		.readahead_limit = number(&readahead_limit, era->readahead_limit),
		.in_flight	 = era->in_flight,
		.write_ends_first = era->write_ends_first,
		.steal		 = number(&steal, era->steal),
		.free	= choice("swap.free", free_name, free_names, SLOT_RULES, era->free),
		.search = choice("swap.search", search_name, search_names, SLOT_SEARCHES,
				 era->search),
		.window = choice("swap.window", window_name, window_names, READ_WINDOWS,
				 era->window),
	};
}

/* Are more than so many tenths of all slots in use? */
static bool fuller_than(uint32_t tenths)
{
	uint32_t total = swap_slots_total();

	return (total - swap_slots_free()) * 10 > total * tenths;
}

/*
 * Does the slot of a page whose only user is the PTE at hand go now (enum slot_rule)? `use`: what
 * that PTE does. The page still counts as cached. A later write frees it by the rules that say
 * so of writes; in the kernels that looked at the slots in use (full, 50), such a write kept it.
 * No lock needed; never sleeps.
 */
bool swap_rule_frees(enum slot_use use)
{
	switch (swap_rules.free) {
	case SLOTS_WRITE:
		return use != SLOT_READ;
	case SLOTS_80:
		return use != SLOT_READ || swap_cached_pages() * 5 > swap_slots_total() * 4;
	case SLOTS_FULL:
		return use != SLOT_LATER_WRITE && fuller_than(8);
	case SLOTS_50:
		return use != SLOT_LATER_WRITE && fuller_than(5);
	case SLOTS_ALWAYS:
		return true;
	default:
		return false;
	}
}
