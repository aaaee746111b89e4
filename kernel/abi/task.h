/* Tasks as proc and ps see them. */
#ifndef ABI_TASK_H
#define ABI_TASK_H

#include <stdint.h>

/* The proc server's pid; the kernel is 0, init 1, and proc hands out the rest. */
#define PROC_PID	32768
#define TASK_PID_MAX		32767		/* of the pids that proc may hand out */

/* Exit status as wait() gives it: code << 8, or the signal that killed. */
#define TASK_STATUS_EXIT(code)	(((code) & 0xff) << 8)
#define TASK_STATUS_SIGNAL(sig)	((sig) & 0x7f)

/* Signal numbers are newlib's. */
#define ABI_SIGILL	4
#define ABI_SIGTRAP	5
#define ABI_SIGABRT	6
#define ABI_SIGFPE	8
#define ABI_SIGKILL	9
#define ABI_SIGBUS	10
#define ABI_SIGSEGV	11
#define ABI_SIGTERM	15

/* Resource use, in nanoseconds and pages. */
struct abi_usage {
	uint64_t user_ns, system_ns;
	uint64_t faults, major_faults;
	uint64_t swapped_in;
	uint32_t max_rss_pages;
	uint32_t reserved;
};

/* What task_reap() gives for one dead task. */
struct abi_reaped {
	int32_t  pid;
	int32_t  status;
	uint32_t oom;			/* 1: the OOM killer took it */
	uint32_t reserved;
	struct abi_usage usage;
};

/* task_control() operations, for proc only. */
#define TASK_CTL_KILL	1		/* arg: status for wait()           */
#define TASK_CTL_NAME	2		/* arg: user address of char[16]    */
#define TASK_CTL_IDS	3		/* arg: uid | gid << 16             */
#define TASK_CTL_SERVER	4		/* mark as a server: never OOM-killed */
#define TASK_CTL_USAGE	5		/* arg: user address of struct abi_usage, filled */

/* Limits of an address space, in bytes; inherited by fork and exec. Beyond the soft one a
 * request fails; it can be set up to the hard one, which can only be lowered. */
#define LIMIT_AS	0		/* all mappings together            */
#define LIMIT_STACK	1		/* how far a stack grows            */
#define LIMIT_MEMLOCK	2		/* locked mappings together         */
#define LIMIT_COUNT	3
#define LIMIT_NONE	0xffffffffu
struct abi_limit { uint32_t soft, hard; };

/* Arguments of space_map(): a mapping in an address space under construction. */
struct abi_space_map {
	uint32_t address, bytes;	/* page aligned */
	uint32_t prot;			/* PROT_* */
	uint32_t flags;			/* MAP_PRIVATE, MAP_ANONYMOUS, MAP_GROWSDOWN */
	int32_t  object;		/* handle, -1: anonymous */
	uint32_t object_page;		/* first page of the object */
};
/* Arguments of space_write(): copy from an object into such a space. */
struct abi_space_write {
	uint32_t address;
	int32_t  object;
	uint32_t object_byte;		/* where the copy starts in the object */
	uint32_t bytes;			/* at most SPACE_WRITE_MAX a call */
};
#define SPACE_WRITE_MAX	(128u << 10)
/* Arguments of task_create() and task_exec(). */
struct abi_exec {
	int32_t  space;			/* handle; consumed on success */
	uint32_t entry, stack;		/* first eip and esp */
	uint32_t heap;			/* where brk begins */
	char	 name[16];
};

#endif
