/* Use of resources. newlib's own header has only the two times. */
#ifndef _SYS_RESOURCE_H_
#define _SYS_RESOURCE_H_

#include <stdint.h>
#include <sys/time.h>

/* Limits; the numbers are Linux's. */
#define RLIMIT_CPU	0
#define RLIMIT_FSIZE	1
#define RLIMIT_DATA	2
#define RLIMIT_STACK	3
#define RLIMIT_CORE	4
#define RLIMIT_NOFILE	7
#define RLIMIT_MEMLOCK	8
#define RLIMIT_AS	9

typedef uint32_t rlim_t;
#define RLIM_INFINITY	((rlim_t)-1)
#define RLIM_SAVED_CUR	RLIM_INFINITY
#define RLIM_SAVED_MAX	RLIM_INFINITY

struct rlimit {
	rlim_t rlim_cur, rlim_max;
};

int getrlimit(int which, struct rlimit *limit);
/* -1 with EINVAL for what nobody enforces, unless it is what it is already; EPERM to raise a
 * hard limit. */
int setrlimit(int which, const struct rlimit *limit);

#define RUSAGE_SELF	0
#define RUSAGE_CHILDREN	(-1)

struct rusage {
	struct timeval ru_utime, ru_stime;
	long ru_maxrss;			/* KiB */
	long ru_ixrss, ru_idrss, ru_isrss;
	long ru_minflt, ru_majflt;
	long ru_nswap, ru_inblock, ru_oublock;
	long ru_msgsnd, ru_msgrcv, ru_nsignals;
	long ru_nvcsw, ru_nivcsw;
};

int getrusage(int who, struct rusage *usage);

#endif
