/* Files as programs see them. */
#ifndef ABI_FILE_H
#define ABI_FILE_H

#include <stdint.h>

#define ABI_S_IFCHR	0020000u
#define ABI_S_IFDIR	0040000u
#define ABI_S_IFREG	0100000u

struct abi_stat {
	uint32_t mode;			/* ABI_S_IF* and permissions */
	uint32_t inode;
	uint64_t size;
};

#define ABI_SEEK_SET	0
#define ABI_SEEK_CUR	1
#define ABI_SEEK_END	2

/* handle_control() operations on descriptors. */
#define HANDLE_CTL_DUP	 1	/* arg: lowest number wanted -> new descriptor */
#define HANDLE_CTL_DUP2	 2	/* arg: the number wanted (closed first)       */
#define HANDLE_CTL_GETFD 3	/* -> HANDLE_CLOEXEC or 0                      */
#define HANDLE_CTL_SETFD 4	/* arg: HANDLE_CLOEXEC or 0                    */

#endif
