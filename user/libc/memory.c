/* The heap and mappings. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>
#include <sys/mman.h>
#include <clockhand.h>

static uint32_t heap_end;		/* as the kernel has it; 0: not asked yet */

int brk(void *end)
{
	int result = sys_brk((uint32_t)end);

	if (!sys_failed(result) && (uint32_t)result != (uint32_t)end)
		result = -ENOMEM;
	if (sys_failed(result))
		return libc_result(result);
	heap_end = (uint32_t)result;
	return 0;
}

void *sbrk(ptrdiff_t more)
{
	uint32_t old;

	if (heap_end == 0)
		heap_end = (uint32_t)sys_brk(0);
	old = heap_end;
	if (more > 0 ? old + (uint32_t)more < old : old + (uint32_t)more > old) {
		errno = ENOMEM;
		return (void *)-1;
	}
	if (more != 0 && brk((void *)(old + (uint32_t)more)) < 0)
		return (void *)-1;
	return (void *)old;
}

/* `fd` may be a memory object's handle; descriptors have no pager yet. */
void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (offset % (off_t)CLOCKHAND_PAGE != 0)
		return (void *)libc_result(-EINVAL);
	return (void *)libc_result(sys_mmap(addr, bytes, prot, flags, fd,
					    (uint32_t)offset / CLOCKHAND_PAGE));
}

int munmap(void *addr, size_t bytes)
{
	return libc_result(sys_munmap(addr, bytes));
}

int madvise(void *addr, size_t bytes, int advice)
{
	return libc_result(sys_madvise(addr, bytes, advice));
}

int mprotect(void *addr, size_t bytes, int prot)
{
	return libc_result(sys_mprotect(addr, bytes, prot));
}

/* The new address is an argument only with MREMAP_FIXED. */
void *mremap(void *addr, size_t old_bytes, size_t new_bytes, int flags, ...)
{
	void *new_addr = NULL;
	va_list more;

	if (flags & MREMAP_FIXED) {
		va_start(more, flags);
		new_addr = va_arg(more, void *);
		va_end(more);
	}
	return (void *)libc_result(sys_mremap(addr, old_bytes, new_bytes, flags, new_addr));
}

int mlock(const void *addr, size_t bytes)
{
	return libc_result(sys_mlock(addr, bytes));
}

int munlock(const void *addr, size_t bytes)
{
	return libc_result(sys_munlock(addr, bytes));
}

int msync(void *addr, size_t bytes, int flags)
{
	return libc_result(sys_msync(addr, bytes, flags));
}

int mincore(void *addr, size_t bytes, unsigned char *vec)
{
	return libc_result(sys_mincore(addr, bytes, vec));
}

int getpagesize(void)
{
	return (int)CLOCKHAND_PAGE;
}
