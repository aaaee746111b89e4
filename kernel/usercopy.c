/*
 * Copies between kernel and user memory: the range checks. The copying itself is in
 * kernel/usercopy.asm, because a fault must know which instructions it may give up.
 */
#include "kernel/abi/errno.h"
#include "kernel/usercopy.h"

int usercopy_bytes(void *to, const void *from, size_t bytes);
int usercopy_string(char *to, const char *from, size_t size);
extern char usercopy_words[], usercopy_rest[], usercopy_char[], usercopy_failed[];

int copy_from_user(void *to, vaddr_t from, size_t bytes)
{
	if (!user_range_ok(from, bytes))
		return -EFAULT;
	return usercopy_bytes(to, (const void *)(uintptr_t)from, bytes);
}

int copy_to_user(vaddr_t to, const void *from, size_t bytes)
{
	if (!user_range_ok(to, bytes))
		return -EFAULT;
	return usercopy_bytes((void *)(uintptr_t)to, from, bytes);
}

/* A string that runs into the end of user space is -EFAULT, like one that runs into
 * a hole; `size` 0 is -ENAMETOOLONG. */
int copy_string_from_user(char *to, vaddr_t from, size_t size)
{
	size_t most;
	int length;

	if (!user_range_ok(from, 0))
		return -EFAULT;
	most = MIN(size, (size_t)(USER_END - from));
	length = usercopy_string(to, (const char *)(uintptr_t)from, most);
	if (length == -ENAMETOOLONG && most < size)
		return -EFAULT;
	return length;
}

uint32_t usercopy_fixup(uint32_t eip)
{
	if (eip == (uint32_t)(uintptr_t)usercopy_words ||
	    eip == (uint32_t)(uintptr_t)usercopy_rest ||
	    eip == (uint32_t)(uintptr_t)usercopy_char)
		return (uint32_t)(uintptr_t)usercopy_failed;
	return 0;
}
