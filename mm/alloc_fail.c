/* See alloc_fail.h. Allocations in interrupts don't exist, so nobody else counts meanwhile. */
#include "mm/alloc_fail.h"

uint32_t alloc_fail_in;

uint32_t alloc_fail_set(uint32_t n)
{
	uint32_t before = alloc_fail_in;

	alloc_fail_in = n;
	return before;
}
