/* newlib's waiting, with the calls that also give the child's use of resources. */
#ifndef _CLOCKHAND_SYS_WAIT_H
#define _CLOCKHAND_SYS_WAIT_H

#include_next <sys/wait.h>

struct rusage;

pid_t wait3(int *status, int options, struct rusage *usage);
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage);

#endif
