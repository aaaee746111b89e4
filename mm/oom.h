/* The OOM killer: rules by oom=NAME, each a file in mm/oom/. */
#ifndef MM_OOM_H
#define MM_OOM_H

#include "kernel/types.h"

/*
 * An allocation found nothing after reclaim has tried everything. Kills one task at
 * most, prints the report with the figures that decided. Returns
 *   OOM_RETRY   somebody is dying or was chosen: wait for his memory and try again
 *   OOM_DIE     the caller is the victim: fail the allocation
 *   OOM_NOBODY  nobody can be killed: fail the allocation
 */
enum oom_result { OOM_RETRY, OOM_DIE, OOM_NOBODY };
enum oom_result oom_kill(unsigned order);

#endif
