/*
 * Copies between kernel and user memory: the range checks. The copying itself is in
 * kernel/usercopy.asm, because a fault must know which instructions it may give up.
 */
#include "kernel/abi/errno.h"
#include "kernel/usercopy.h"

extern char usercopy_words[], usercopy_longs[], usercopy_rest[], usercopy_char[];
extern char usercopy_reply[], usercopy_reply_bytes[];
extern char usercopy_received[], usercopy_received_bytes[], usercopy_received_token[];
extern char usercopy_try[], usercopy_try_bytes[], usercopy_try_failed[];
extern char usercopy_failed[];

static int copy_bytes(void *to, const void *from, size_t bytes)
{
	int result;

	__asm__ volatile("call usercopy_bytes"
			 : "=a"(result), "+D"(to), "+S"(from), "+c"(bytes)
			 : : "edx", "memory", "cc");
	return result;
}

int copy_from_user(void *to, vaddr_t from, size_t bytes)
{
	if (!user_range_ok(from, bytes))
		return -EFAULT;
	return copy_bytes(to, (const void *)(uintptr_t)from, bytes);
}

int copy_to_user(vaddr_t to, const void *from, size_t bytes)
{
	if (!user_range_ok(to, bytes))
		return -EFAULT;
	return copy_bytes((void *)(uintptr_t)to, from, bytes);
}

/*
 * Copy the string at user address `from` into to[size], with its NUL. Returns its length;
 * -ENAMETOOLONG if it doesn't fit or `size` is 0; -EFAULT if it runs into the end of user
 * space or into a hole. No spinlock held: a fault on the way may sleep.
 */
int copy_string_from_user(char *to, vaddr_t from, size_t size)
{
	const char *source = (const char *)(uintptr_t)from;
	size_t most, left;
	int result;

	if (!user_range_ok(from, 1))
		return -EFAULT;
	if (size == 0)
		return -ENAMETOOLONG;
	most = left = MIN(size, (size_t)(USER_END - from));
	__asm__ volatile("call usercopy_string"
			 : "=a"(result), "+D"(to), "+S"(source), "+c"(left)
			 : : "memory", "cc");
	if (result == OK)
		return (int)((vaddr_t)(uintptr_t)source - from - 1);
	return result == -ENAMETOOLONG && most < size ? -EFAULT : result;
}

uint32_t usercopy_try_fixup(uint32_t eip)
{
	if (eip == (uint32_t)(uintptr_t)usercopy_try ||
	    eip == (uint32_t)(uintptr_t)usercopy_try_bytes)
		return (uint32_t)(uintptr_t)usercopy_try_failed;
	return 0;
}

uint32_t usercopy_fixup(uint32_t eip)
{
	static char *const may_fail[] = {
		usercopy_words, usercopy_longs, usercopy_rest, usercopy_char,
		usercopy_reply, usercopy_reply_bytes,
		usercopy_received, usercopy_received_bytes, usercopy_received_token,
	};

	for (size_t i = 0; i < ARRAY_LEN(may_fail); i++) {
		if (eip == (uint32_t)(uintptr_t)may_fail[i])
			return (uint32_t)(uintptr_t)usercopy_failed;
	}
	return 0;
}
