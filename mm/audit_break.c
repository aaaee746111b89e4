/* Which invariant is the n-th that can be broken (kernel/breakage.h)? */
#include "kernel/abi/errno.h"
#include "kernel/breakage.h"
#include "kernel/printk.h"
#include "mm/audit.h"

static const struct breakage *const areas[] = {
	break_frames, break_spaces, break_objects, break_swap, rmap_breakages, break_kernel,
	break_drivers,
};

static const struct breakage *breakage_find(unsigned n)
{
	for (unsigned i = 0; i < ARRAY_LEN(areas); i++)
		for (const struct breakage *b = areas[i]; b->invariant; b++)
			if (n-- == 0)
				return b;
	return NULL;
}

/*
 * Break the n-th invariant of all areas, and say so in the log. OK, -EINVAL if there is no
 * n-th, -ENOENT if there is nothing to break now (no page in swap, say). What an assertion
 * guards panics here, or when this thread sleeps or goes back to user mode.
 */
int audit_break(unsigned n)
{
	const struct breakage *b = breakage_find(n);
	bool done;

	if (!b)
		return -EINVAL;
	printk("audit: break %u, %s: %s\n", n, b->invariant, b->what);
	done = b->apply();
	if (!done)
		printk("audit: there is none now\n");
	return done ? OK : -ENOENT;
}
