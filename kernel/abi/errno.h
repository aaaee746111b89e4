/* Errors of system calls: returned negative. The numbers are newlib's, so that
 * libc stores them into errno as they are (newlib/libc/include/sys/errno.h). */
#ifndef ABI_ERRNO_H
#define ABI_ERRNO_H

#ifndef __INSIDE_CYGWIN_NET__
#ifndef EPERM
#define EPERM		1
#define ENOENT		2
#define ESRCH		3
#define EINTR		4
#define EIO		5
#define ENXIO		6
#define E2BIG		7
#define ENOEXEC		8
#define EBADF		9
#define ECHILD		10
#define EAGAIN		11
#define ENOMEM		12
#define EACCES		13
#define EFAULT		14
#define EBUSY		16
#define EEXIST		17
#define ENODEV		19
#define ENOTDIR		20
#define EISDIR		21
#define EINVAL		22
#define ENFILE		23
#define EMFILE		24
#define ENOTTY		25
#define EFBIG		27
#define ENOSPC		28
#define ESPIPE		29
#define EROFS		30
#define EPIPE		32
#define ERANGE		34
#define ENOSYS		88
#define ENAMETOOLONG	91
#define ETIMEDOUT	116
#define ENOTSUP		134
#define EOVERFLOW	139
#endif
#endif

#define OK 0

#endif
