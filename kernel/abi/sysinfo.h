/* Figures that programs may read: sysinfo(what, buffer, bytes) -> bytes filled. */
#ifndef ABI_SYSINFO_H
#define ABI_SYSINFO_H

#include <stdint.h>

#define SYSINFO_MEMORY	 1	/* struct abi_memory              */
#define SYSINFO_COUNTERS 2	/* text: "name value\n" ...       */
#define SYSINFO_TASKS	 3	/* struct abi_task_row[], by pid  */
#define SYSINFO_SWAPS	 4	/* struct abi_swap_row[]          */
#define SYSINFO_CPU	 5	/* struct abi_cpu                 */
#define SYSINFO_DISKS	 6	/* struct abi_disk_row[]          */
#define SYSINFO_PARAMS	 7	/* text: "name value\n" ...       */
#define SYSINFO_CMDLINE	 8	/* text                           */
#define SYSINFO_FRAMES	 9	/* struct abi_frame[], by number  */
#define SYSINFO_SLABS	10	/* struct abi_slab_row[]          */

/* In pages. */
struct abi_memory {
	uint32_t total;			/* RAM that the kernel manages           */
	uint32_t free;
	uint32_t active, inactive;
	uint32_t anon_mapped;		/* anonymous pages in some page table    */
	uint32_t objects;		/* pages held by memory objects          */
	uint32_t swap_cached;		/* pages in the swap cache               */
	uint32_t page_tables, slab, kernel_stacks, reserved;
	uint32_t swap_total, swap_free;	/* slots                                 */
	uint32_t committed;		/* pages promised to address spaces and memory objects */
	uint32_t min, low, high;	/* watermarks, summed over zones         */
	uint32_t dirty, writeback;
	uint32_t rmap_bytes;		/* bytes that the reverse map takes      */
	uint32_t objects_swapped;	/* pages of memory objects that are in swap */
	uint32_t frames;		/* rows of SYSINFO_FRAMES: one more than the highest frame */
};

struct abi_task_row {
	int32_t  pid, parent;		/* parent is proc's: 0 here              */
	uint32_t flags;			/* enum task_flag                        */
	uint32_t vm_pages, rss_pages, swap_pages;
	uint32_t vmas;			/* mappings, as the kernel keeps them    */
	uint64_t user_ns, system_ns;
	uint64_t faults, major_faults;
	char	 state;			/* R S D Z                               */
	char	 name[16];
	char	 waiting_for[23];
};

struct abi_swap_row {
	char	 name[16];		/* "hdb1"                                */
	int32_t  priority;
	uint32_t slots, used, bad;
};

struct abi_cpu {
	uint64_t uptime_ns, idle_ns, user_ns, system_ns, kswapd_ns;	/* system_ns: all
						 * threads' but kswapd's     */
	uint64_t interrupts, context_switches;
	uint32_t runnable, blocked;
};

struct abi_disk_row {
	char	 name[16];
	uint32_t mode;			/* 0 PIO, 1 DMA                          */
	uint32_t errors;
	uint64_t sectors, reads, writes, read_sectors, write_sectors, busy_ns;
};

/* What a frame of RAM is used for. The answer's own memory counts as free. */
#define FRAME_FREE	0
#define FRAME_RESERVED	1	/* kernel image, page array, holes                   */
#define FRAME_SLAB	2	/* of cache `what` >> 16, with `what` & 0xffff objects */
#define FRAME_TABLE	3	/* page table of owner, for address `what`; or 0: page directory */
#define FRAME_KSTACK	4	/* of thread `what`                                  */
#define FRAME_OBJECT	5	/* page `what` of a memory object                    */
#define FRAME_ANON	6	/* at address `what` of owner                        */
#define FRAME_CACHED	7	/* in the swap cache only, of entry `what`           */
#define FRAME_HELD	8	/* in none of these states; a block of order `what`  */
#define FRAME_STATES	9

#define FRAME_OF_NOBODY	0	/* `owner`, if it is no pid                          */
#define FRAME_OF_KERNEL	(-1)	/* a kernel thread's, a boot module's                */
#define FRAME_OF_SPACE	(-2)	/* an address space that exec is building            */

struct abi_frame {
	uint8_t	 state;
	uint8_t	 unused;
	uint16_t mapcount;		/* PTEs; 0xffff: so many, or more            */
	int32_t	 owner;			/* pid of somebody who has it                */
	uint32_t what;			/* see FRAME_*                               */
};

struct abi_slab_row {
	char	 name[16];
	uint32_t bytes, used, slabs;	/* of an object; objects; frames             */
};

/* machine(op, arg) */
#define MACHINE_POWEROFF   1	/* arg: exit status of the run               */
#define MACHINE_AUDIT	   2	/* -> number of violations; printed to the log */
#define MACHINE_DROP_CACHES 3	/* free every page that is only a cache      */
#define MACHINE_TRACE	   4	/* print the newest `arg` trace records      */
#define MACHINE_PANIC	   5	/* planted faults, only with test.faults=1:  */
#define MACHINE_TRIPLE	   6
#define MACHINE_HANG	   7
#define MACHINE_OVERFLOW   8	/* kernel stack overflow                     */
#define MACHINE_BREAK	   9	/* break the invariant whose number is `arg` */
#define MACHINE_LOSE	  10	/* lose one of what LOSE_* says, for good    */
#define MACHINE_FAIL_ALLOC 11	/* the arg'th allocation from now on fails, once; 0: none. Returns
				 * how many of an earlier call's were still to come */

#define LOSE_PAGE   0
#define LOSE_SLAB   1		/* an object of a slab                       */
#define LOSE_SLOT   2		/* of swap                                   */
#define LOSE_STACK  3		/* a kernel stack                            */
#define LOSE_OBJECT 4		/* a memory object with a page               */
#define LOSE_TABLE  5		/* a page table                              */

#endif
