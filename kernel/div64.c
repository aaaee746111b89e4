/*
 * 64-bit division, which gcc calls by these names (GCC internals, "Integer library
 * routines"), for the kernel and for programs. Debian's libgcc has them too, but begun by
 * endbr32, whose opcode a 486 and a Pentium refuse.
 */
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);

/* One step of schoolbook division: (high:low) / d, where high < d. */
static inline uint32_t divide_step(uint32_t high, uint32_t low, uint32_t d, uint32_t *rest)
{
	uint32_t quotient;

	__asm__("divl %4" : "=a"(quotient), "=d"(*rest) : "0"(low), "1"(high), "rm"(d));
	return quotient;
}

/* d has more than 32 bits, so the quotient has fewer: bit by bit. */
static uint64_t divide_long(uint64_t n, uint64_t d, uint64_t *rest)
{
	unsigned shift = (unsigned)__builtin_clz((uint32_t)(d >> 32));
	uint64_t quotient = 0;

	d <<= shift;
	for (unsigned i = 0; i <= shift; i++) {
		quotient <<= 1;
		if (n >= d) {
			n -= d;
			quotient |= 1;
		}
		d >>= 1;
	}
	*rest = n;
	return quotient;
}

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
	uint32_t high, low, remainder;
	uint64_t long_rest, quotient;

	if (d >> 32) {
		quotient = divide_long(n, d, &long_rest);
		if (rest)
			*rest = long_rest;
		return quotient;
	}
	high = divide_step(0, (uint32_t)(n >> 32), (uint32_t)d, &remainder);
	low = divide_step(remainder, (uint32_t)n, (uint32_t)d, &remainder);
	if (rest)
		*rest = remainder;
	return (uint64_t)high << 32 | low;
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
	return __udivmoddi4(n, d, (uint64_t *)0);
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	__udivmoddi4(n, d, &rest);
	return rest;
}

/* The rest has the dividend's sign, as C wants it. */
int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest)
{
	uint64_t un = n < 0 ? -(uint64_t)n : (uint64_t)n;
	uint64_t ud = d < 0 ? -(uint64_t)d : (uint64_t)d;
	uint64_t urest, quotient = __udivmoddi4(un, ud, &urest);

	if (rest)
		*rest = n < 0 ? -(int64_t)urest : (int64_t)urest;
	return (n < 0) != (d < 0) ? (int64_t)-quotient : (int64_t)quotient;
}

int64_t __divdi3(int64_t n, int64_t d)
{
	return __divmoddi4(n, d, (int64_t *)0);
}

int64_t __moddi3(int64_t n, int64_t d)
{
	int64_t rest;

	__divmoddi4(n, d, &rest);
	return rest;
}
