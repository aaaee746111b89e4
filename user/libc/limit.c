/* getrlimit and setrlimit: three limits are the kernel's, the others are what they are. */
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <clockhand.h>

/* LIMIT_* of one that the kernel keeps, else -1. */
static int kernel_limit(int which)
{
	switch (which) {
	case RLIMIT_AS:
		return LIMIT_AS;
	case RLIMIT_STACK:
		return LIMIT_STACK;
	case RLIMIT_MEMLOCK:
		return LIMIT_MEMLOCK;
	default:
		return -1;
	}
}

/* What holds for the others: the size of the table of descriptors, no core files, and nothing
 * that is limited. -1: no such limit. */
static int fixed_limit(int which, rlim_t *value)
{
	switch (which) {
	case RLIMIT_NOFILE:
		*value = HANDLE_FD_MAX;
		return 0;
	case RLIMIT_CORE:
		*value = 0;
		return 0;
	case RLIMIT_CPU:
	case RLIMIT_FSIZE:
	case RLIMIT_DATA:
		*value = RLIM_INFINITY;
		return 0;
	default:
		return -1;
	}
}

int getrlimit(int which, struct rlimit *limit)
{
	struct abi_limit was;
	rlim_t value;

	if (kernel_limit(which) >= 0) {
		if (libc_result(sys_limit(kernel_limit(which), NULL, &was)) < 0)
			return -1;
		*limit = (struct rlimit){ .rlim_cur = was.soft, .rlim_max = was.hard };
		return 0;
	}
	if (fixed_limit(which, &value) < 0)
		return libc_result(-EINVAL);
	*limit = (struct rlimit){ .rlim_cur = value, .rlim_max = value };
	return 0;
}

int setrlimit(int which, const struct rlimit *limit)
{
	struct abi_limit want = { .soft = limit->rlim_cur, .hard = limit->rlim_max };
	rlim_t value;

	if (kernel_limit(which) >= 0)
		return libc_result(sys_limit(kernel_limit(which), &want, NULL));
	if (fixed_limit(which, &value) < 0 || want.soft != value || want.hard != value)
		return libc_result(-EINVAL);
	return 0;
}
