/*
 * Copies between kernel and user memory. The user's side may be unmapped,
 * swapped out or hostile: the copy faults pages in and sleeps, so no spinlock
 * and no page lock may be held. All return OK or -EFAULT; on -EFAULT a part may
 * have been copied.
 */
#ifndef KERNEL_USERCOPY_H
#define KERNEL_USERCOPY_H

#include "kernel/abi/errno.h"
#include "kernel/types.h"

#define USER_START	0x00001000u		/* nothing is ever mapped at page 0 */
#define USER_END	0xc0000000u		/* [USER_START, USER_END) */
#define USER_STACK_TOP	0xbffff000u
#define USER_MMAP_BASE	0x40000000u

int copy_from_user(void *to, vaddr_t from, size_t bytes) MUST_CHECK;
int copy_to_user(vaddr_t to, const void *from, size_t bytes) MUST_CHECK;
/* Copy a NUL-ended string into to[size]. Returns its length, -EFAULT, or
 * -ENAMETOOLONG if no NUL was within `size`. */
int copy_string_from_user(char *to, vaddr_t from, size_t size) MUST_CHECK;

/* True if [start, start + bytes) lies in user space and doesn't wrap. */
static inline bool user_range_ok(vaddr_t start, size_t bytes)
{
	return bytes <= USER_END - USER_START &&
	       start - USER_START <= USER_END - USER_START - bytes;
}

/* The same for a few whole words, without a call's overhead: for IPC. */
static inline MUST_CHECK int copy_words_from_user(void *to, vaddr_t from, size_t words)
{
	int result = -EFAULT;

	if (user_range_ok(from, 4 * words))
		__asm__ volatile("call usercopy_words"
				 : "=a"(result), "+D"(to), "+S"(from), "+c"(words)
				 : : "memory", "cc");
	return result;
}

static inline MUST_CHECK int copy_words_to_user(vaddr_t to, const void *from, size_t words)
{
	int result = -EFAULT;

	if (user_range_ok(to, 4 * words))
		__asm__ volatile("call usercopy_words"
				 : "=a"(result), "+D"(to), "+S"(from), "+c"(words)
				 : : "memory", "cc");
	return result;
}

/* If a fault at kernel instruction `eip` is one of the copies above, the address
 * where it gives up; else 0. kernel/trap.c asks. */
uint32_t usercopy_fixup(uint32_t eip);
/* The same for usercopy_try (kernel/ipc_moves.h), which gives up at any fault, before anybody
 * tries to mend it: so it never sleeps, and interrupts may be off. */
uint32_t usercopy_try_fixup(uint32_t eip);

#endif
