/* Use of resources. newlib's own header has only the two times. */
#ifndef _SYS_RESOURCE_H_
#define _SYS_RESOURCE_H_

#include <sys/time.h>

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
