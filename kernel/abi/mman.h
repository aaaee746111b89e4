/* mmap and its family; numbers as on Linux i386. */
#ifndef ABI_MMAN_H
#define ABI_MMAN_H

#define PROT_NONE	0
#define PROT_READ	1
#define PROT_WRITE	2
#define PROT_EXEC	4

#define MAP_SHARED	0x01
#define MAP_PRIVATE	0x02
#define MAP_FIXED	0x10
#define MAP_ANONYMOUS	0x20
#define MAP_ANON	MAP_ANONYMOUS
#define MAP_GROWSDOWN	0x0100
#define MAP_NORESERVE	0x4000
#define MAP_FAILED	((void *)-1)

#define MADV_NORMAL	0
#define MADV_RANDOM	1
#define MADV_SEQUENTIAL	2
#define MADV_WILLNEED	3
#define MADV_DONTNEED	4
#define MADV_PAGEOUT	21	/* reclaim these pages now, if they can be */

#define MREMAP_MAYMOVE	1
#define MREMAP_FIXED	2	/* at the address given, with MREMAP_MAYMOVE */

#define MS_ASYNC	1
#define MS_INVALIDATE	2
#define MS_SYNC		4

#endif
