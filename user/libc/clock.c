/* Time. The kernel's clock is in nanoseconds; wall time begins at epoch= in the lab. */
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <sys/time.h>
#include <clockhand.h>

enum { KERNEL_CLOCK_MONOTONIC, KERNEL_CLOCK_WALL, KERNEL_CLOCK_OWN };

#define NS_PER_S 1000000000u

uint64_t clock_ns(void)
{
	uint64_t ns = 0;

	sys_clock(KERNEL_CLOCK_MONOTONIC, &ns);
	return ns;
}

int gettimeofday(struct timeval *tv, void *zone)
{
	uint64_t ns;
	int error = sys_clock(KERNEL_CLOCK_WALL, &ns);

	(void)zone;
	if (error >= 0) {
		tv->tv_sec = (time_t)(ns / NS_PER_S);
		tv->tv_usec = (suseconds_t)(ns % NS_PER_S / 1000u);
	}
	return libc_result(error);
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t ns;
	int which, error;

	switch (id) {
	case CLOCK_REALTIME:
		which = KERNEL_CLOCK_WALL;
		break;
	case CLOCK_MONOTONIC:
		which = KERNEL_CLOCK_MONOTONIC;
		break;
	case (clockid_t)2:		/* CLOCK_PROCESS_CPUTIME_ID */
		which = KERNEL_CLOCK_OWN;
		break;
	default:
		return libc_result(-EINVAL);
	}
	error = sys_clock(which, &ns);
	if (error >= 0) {
		ts->tv_sec = (time_t)(ns / NS_PER_S);
		ts->tv_nsec = (long)(ns % NS_PER_S);
	}
	return libc_result(error);
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	uint64_t ns = (uint64_t)wanted->tv_sec * NS_PER_S + (uint32_t)wanted->tv_nsec;

	if (wanted->tv_sec < 0 || wanted->tv_nsec < 0 || wanted->tv_nsec >= (long)NS_PER_S)
		return libc_result(-EINVAL);
	if (left)
		left->tv_sec = left->tv_nsec = 0;
	return libc_result(sys_sleep((uint32_t)ns, (uint32_t)(ns >> 32)));
}

unsigned sleep(unsigned seconds)
{
	struct timespec ts = { .tv_sec = seconds };

	nanosleep(&ts, NULL);
	return 0;
}

int usleep(useconds_t us)
{
	struct timespec ts = { .tv_sec = us / 1000000u, .tv_nsec = (long)(us % 1000000u) * 1000 };

	return nanosleep(&ts, NULL);
}
