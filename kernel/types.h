/* Numbers with a unit, and the few macros that every file needs. */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t pfn_t;		/* number of a physical page frame        */
typedef uint32_t paddr_t;	/* physical byte address                  */
typedef uint32_t vaddr_t;	/* user or kernel virtual byte address    */
typedef uint32_t pte_t;		/* a page-table entry, present or not     */
typedef uint64_t sector_t;	/* 512-byte unit of a block device        */
typedef uint64_t ns_t;		/* nanoseconds of the kernel's clock      */

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096u
#define PAGE_MASK	(~(PAGE_SIZE - 1))
#define SECTOR_BYTES	512u
#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_BYTES)

#define PAGE_DOWN(a)	((a) & PAGE_MASK)
#define PAGE_UP(a)	(((a) + PAGE_SIZE - 1) & PAGE_MASK)
#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))
#define BIT(n)		(1u << (n))
#define MIN(a, b)	((a) < (b) ? (a) : (b))
#define MAX(a, b)	((a) > (b) ? (a) : (b))
#define CLAMP(x, lo, hi) MIN(MAX(x, lo), hi)
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define NORETURN	__attribute__((noreturn))
#define ALWAYS_INLINE	inline __attribute__((always_inline))	/* on a path with a budget */
#define PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define MUST_CHECK	__attribute__((warn_unused_result))

#define NS_PER_MS	1000000ull
#define NS_PER_SECOND	1000000000ull

#endif
