/*
 * The linear map: all of RAM below 896 MiB is seen by the kernel at KERNEL_BASE.
 */
#include "mm/page.h"

/* Where the kernel sees physical address `pa`, which must be below 896 MiB. */
void *paddr_address(paddr_t pa)
{
	return (void *)(uintptr_t)(KERNEL_BASE + pa);
}

/* Where the kernel sees the frame of `p`. */
void *page_address(const struct page *p)
{
	return paddr_address(page_paddr(p));
}

/* The descriptor of the frame that an address of the linear map lies in. */
struct page *address_page(const void *kernel_address)
{
	return pfn_page(((uint32_t)(uintptr_t)kernel_address - KERNEL_BASE) >> PAGE_SHIFT);
}
