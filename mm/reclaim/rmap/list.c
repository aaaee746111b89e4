/* The policies of builds with a reverse map; the first is the default. */
#include "mm/reclaim/policies.h"

const struct reclaim_policy *const reclaim_policies[] = { &reclaim_default, &reclaim_linux26, NULL };

const char *const reclaim_elsewhere[] = {
	"2.2", "2.4.9", "2.4.13", "2.4.14-pre5", "2.4.14-pre6", "2.4.14", "aa", "skraw1", "skraw2", NULL,
};
const char reclaim_why_not[] = "it takes no care of a reverse map: build RMAP=scan";
