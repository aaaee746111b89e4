/* Random numbers that repeat: Marsaglia's xorshift with the triple 13, 17, 5. */
#ifndef TESTS_XORSHIFT_H
#define TESTS_XORSHIFT_H

#include <stdint.h>

/* The next number in [0, below), or any if `below` is 0. *state is never 0. */
static inline uint32_t xorshift(uint32_t *state, uint32_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return below ? *state % below : *state;
}

#endif
