/*
 * 64-bit division, which gcc calls by these names. libgcc's own begins with ENDBR32, an
 * instruction that a 486 doesn't know, so the kernel brings its own and links no libgcc.
 *
 * A divisor of one word takes two divl. For a longer one the quotient fits in a word; it
 * is estimated by dividing half the dividend by the divisor's top 32 significant bits,
 * which is right or one too large (Warren, Hacker's Delight, 9-5).
 */
#include "kernel/types.h"

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);

/* n / d; n's high word is less than d, so that the quotient fits. */
static uint32_t divide_step(uint64_t n, uint32_t d, uint32_t *rest)
{
	uint32_t quotient;

	__asm__("divl %4" : "=a"(quotient), "=d"(*rest)
		: "a"((uint32_t)n), "d"((uint32_t)(n >> 32)), "rm"(d) : "cc");
	return quotient;
}

static uint64_t divide_by_word(uint64_t n, uint32_t d, uint64_t *rest)
{
	uint32_t r, high = divide_step(n >> 32, d, &r);
	uint32_t low = divide_step((uint64_t)r << 32 | (uint32_t)n, d, &r);

	*rest = r;
	return (uint64_t)high << 32 | low;
}

static uint64_t divide_by_long(uint64_t n, uint64_t d, uint64_t *rest)
{
	unsigned shift = (unsigned)__builtin_clz((uint32_t)(d >> 32));
	uint32_t unused, top = (uint32_t)(d << shift >> 32);
	uint64_t quotient = (uint64_t)divide_step(n >> 1, top, &unused) << shift >> 31;

	if (quotient != 0)
		quotient--;		/* now right, or one too small */
	*rest = n - quotient * d;
	if (*rest >= d) {
		quotient++;
		*rest -= d;
	}
	return quotient;
}

/* n / d, and n % d in *rest. d == 0 traps, as divl does. */
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
	if (d >> 32 == 0)
		return divide_by_word(n, (uint32_t)d, rest);
	return divide_by_long(n, d, rest);
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	return __udivmoddi4(n, d, &rest);
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	__udivmoddi4(n, d, &rest);
	return rest;
}
