/* Mapping memory. */
#ifndef _SYS_MMAN_H
#define _SYS_MMAN_H

#include <sys/types.h>
#include <kernel/abi/mman.h>

void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
int munmap(void *addr, size_t bytes);
int madvise(void *addr, size_t bytes, int advice);
int mprotect(void *addr, size_t bytes, int prot);
int mlock(const void *addr, size_t bytes);
int munlock(const void *addr, size_t bytes);
int msync(void *addr, size_t bytes, int flags);
int mincore(void *addr, size_t bytes, unsigned char *vec);
void *mremap(void *addr, size_t old_bytes, size_t new_bytes, int flags, ...);

#endif
