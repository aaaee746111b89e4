/* The policies of RMAP=scan, which look for victims in page tables; the first is the default. */
#include "mm/reclaim/policies.h"

const struct reclaim_policy *const reclaim_policies[] = {
	&reclaim_linux2414, &reclaim_linux2414_pre6, &reclaim_linux2414_pre5, &reclaim_linux2413,
	&reclaim_linux249, &reclaim_linux22, &reclaim_aa, &reclaim_skraw1, &reclaim_skraw2, NULL,
};

const char *const reclaim_elsewhere[] = { "default", "2.6", NULL };
const char reclaim_why_not[] = "it asks the reverse map, and RMAP=scan has none";
