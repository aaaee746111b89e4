/* Every system call with arguments it has to refuse. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <clockhand.h>
#include "user/tests/tap.h"

#define NOWHERE	 ((void *)0x10)			/* page 0 is never mapped */
#define KERNEL	 ((void *)0xc0100000u)
#define HOLE	 ((void *)0x30000000u)		/* user space, nothing there */
#define WRAPS	 ((void *)0xbffffff0u)

static int raw_call(int number)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number) : "memory");
	return result;
}

static void numbers(void)
{
	tap_equal(sys_null(), 0, "sys-number-01", "null does nothing");
	tap_equal(raw_call(6), -ENOSYS, "sys-number-02", "a gap in the table");
	tap_equal(raw_call(65), -ENOSYS, "sys-number-03", "one past the table");
	tap_equal(raw_call(-1), -ENOSYS, "sys-number-04", "a negative number");
	tap_equal(raw_call(0x7fffffff), -ENOSYS, "sys-number-05", "a huge number");
}

static void clocks(void)
{
	uint64_t ns = 0, later = 0;

	tap_equal(sys_clock(0, &ns), 0, "sys-clock-01", "monotonic");
	tap_equal(sys_clock(9, &ns), -EINVAL, "sys-clock-02", "no such clock");
	tap_equal(sys_clock(0, NOWHERE), -EFAULT, "sys-clock-03", "into page 0");
	tap_equal(sys_clock(0, KERNEL), -EFAULT, "sys-clock-04", "into the kernel");
	tap_equal(sys_sleep(2000000, 0), 0, "sys-sleep-01", "2 ms");
	sys_clock(0, &later);
	tap_case(later - ns >= 2000000, "sys-sleep-02", "and the clock went on by as much");
	tap_equal(sys_sleep(0, 0x80000000u), -EINVAL, "sys-sleep-03", "but not to the end of the clock");
}

static void reads(void)
{
	char buffer[16];

	tap_equal(sys_read(99, buffer, 1), -EBADF, "sys-read-01", "no such descriptor");
	tap_equal(sys_read(-1, buffer, 1), -EBADF, "sys-read-02", "a negative one");
	tap_equal(sys_read(HANDLE_PROC, buffer, 1), -EBADF, "sys-read-03", "an endpoint");
	tap_equal(sys_read(0, buffer, 0), 0, "sys-read-04", "nothing");
	tap_equal(sys_read(0, KERNEL, 16), -EFAULT, "sys-read-05", "into the kernel");
	tap_case(sys_read(0, buffer, 0x80000000u) < 0, "sys-read-06", "more than user space");
}

static void writes(void)
{
	tap_equal(sys_write(99, "x", 1), -EBADF, "sys-write-01", "no such descriptor");
	tap_equal(sys_write(1, NOWHERE, 4), -EFAULT, "sys-write-02", "from page 0");
	tap_equal(sys_write(1, KERNEL, 4), -EFAULT, "sys-write-03", "from the kernel");
	tap_equal(sys_write(1, HOLE, 4), -EFAULT, "sys-write-04", "from a hole");
	tap_case(sys_write(1, WRAPS, 0xffffff00u) < 0, "sys-write-05", "a range that wraps");
	tap_equal(sys_write(1, "", 0), 0, "sys-write-06", "nothing");
	tap_equal(sys_log(HOLE, 8), -EFAULT, "sys-log-01", "text from a hole");
	tap_equal(sys_log(KERNEL, 8), -EFAULT, "sys-log-02", "text from the kernel");
}

static void files(void)
{
	struct abi_stat st;
	uint64_t at;

	tap_equal(sys_fstat(99, &st), -EBADF, "sys-fstat-01", "no such descriptor");
	tap_equal(sys_fstat(1, KERNEL), -EFAULT, "sys-fstat-02", "into the kernel");
	tap_equal(sys_fstat(1, &st), 0, "sys-fstat-03", "the console");
	tap_equal((long)(st.mode & ABI_S_IFCHR), ABI_S_IFCHR, "sys-fstat-04", "is a device");
	tap_equal(sys_seek(99, 0, 0, 0, &at), -EBADF, "sys-seek-01", "no such descriptor");
	tap_equal(sys_seek(1, 0, 0, 0, &at), -ESPIPE, "sys-seek-02", "the console");
	tap_equal(sys_close(99), -EBADF, "sys-close-01", "no such descriptor");
	tap_equal(sys_close(HANDLE_PROC), -EBADF, "sys-close-02", "a system handle");
	tap_equal(sys_handle_close(1), -EBADF, "sys-handle-01", "a descriptor");
	tap_equal(sys_handle_close(HANDLE_SYSTEM_FIRST + 200), -EBADF, "sys-handle-02", "none");
	tap_equal(sys_handle_close(0x7fffffff), -EBADF, "sys-handle-03", "a huge one");
	tap_equal(sys_file_create(1, 0, 1), -EBADF, "sys-file-01", "over no object");
}

static void controls(void)
{
	int fd = sys_handle_control(1, HANDLE_CTL_DUP, 10);

	tap_equal(fd, 10, "sys-control-01", "dup from 10 on");
	tap_equal(sys_handle_control(fd, HANDLE_CTL_SETFD, HANDLE_CLOEXEC), 0, "sys-control-02",
		  "close on exec");
	tap_equal(sys_handle_control(fd, HANDLE_CTL_GETFD, 0), HANDLE_CLOEXEC, "sys-control-03",
		  "is read back");
	tap_equal(sys_handle_control(1, HANDLE_CTL_DUP2, 10), 10, "sys-control-04", "dup2 onto it");
	tap_equal(sys_handle_control(10, HANDLE_CTL_GETFD, 0), 0, "sys-control-05", "clears the flag");
	tap_equal(sys_close(10), 0, "sys-control-06", "close");
	tap_equal(sys_handle_control(10, HANDLE_CTL_DUP, 0), -EBADF, "sys-control-07", "of a closed one");
	tap_equal(sys_handle_control(1, HANDLE_CTL_DUP2, -1), -EBADF, "sys-control-08", "dup2 to -1");
	tap_equal(sys_handle_control(1, HANDLE_CTL_DUP2, 1024), -EBADF, "sys-control-09", "dup2 to 1024");
	tap_equal(sys_handle_control(1, 77, 0), -EINVAL, "sys-control-10", "no such operation");
}

static void objects(void)
{
	int h = sys_object_create(2);
	char byte = 'x', back = 0;

	tap_case(h >= HANDLE_SYSTEM_FIRST, "sys-object-01", "two pages");
	tap_equal(sys_object_size(h), 8192, "sys-object-02", "have 8192 bytes");
	tap_equal(sys_object_write(h, 8191, &byte, 1), 1, "sys-object-03", "write the last byte");
	tap_equal(sys_object_read(h, 8191, &back, 1), 1, "sys-object-04", "read it");
	tap_equal(back, 'x', "sys-object-05", "it is what was written");
	tap_case(sys_object_write(h, 8192, &byte, 1) <= 0, "sys-object-06", "not behind the end");
	tap_case(sys_object_read(h, 0xfffffff0u, &back, 32) < 0, "sys-object-07", "no wrapping");
	tap_equal(sys_object_read(h, 0, KERNEL, 16), -EFAULT, "sys-object-08", "into the kernel");
	tap_equal(sys_object_write(h, 0, HOLE, 16), -EFAULT, "sys-object-09", "from a hole");
	tap_case(sys_object_create(0) < 0, "sys-object-10", "no empty object");
	tap_case(sys_object_create(0xffffffffu) < 0, "sys-object-11", "none of 16 TiB");
	tap_equal(sys_object_size(1), -EBADF, "sys-object-12", "the console is none");
	tap_equal(sys_handle_close(h), 0, "sys-object-13", "close");
	tap_equal(sys_object_size(h), -EBADF, "sys-object-14", "gone");
}

static void privileged(void)
{
	struct abi_exec exec = { 0 };
	struct abi_space_map map = { 0 };
	struct abi_space_write write = { 0 };
	struct abi_reaped reaped;

	tap_equal(sys_space_create(), -EPERM, "sys-perm-01", "space_create");
	tap_equal(sys_space_map(0, &map), -EPERM, "sys-perm-02", "space_map");
	tap_equal(sys_space_write(0, &write), -EPERM, "sys-perm-03", "space_write");
	tap_equal(sys_task_create(99, &exec), -EPERM, "sys-perm-04", "task_create");
	tap_equal(sys_task_exec(1, &exec), -EPERM, "sys-perm-05", "task_exec");
	tap_equal(sys_task_clone(1, 99), -EPERM, "sys-perm-06", "task_clone");
	tap_equal(sys_task_control(1, TASK_CTL_KILL, 9), -EPERM, "sys-perm-07", "task_control");
	tap_equal(sys_task_reap(&reaped), -EPERM, "sys-perm-08", "task_reap");
}

static void machine(void)
{
	char small[1];

	tap_equal(sys_task_usage(KERNEL), -EFAULT, "sys-usage-01", "into the kernel");
	tap_equal(sys_sysinfo(99, small, 1), -EINVAL, "sys-info-01", "no such figures");
	tap_case(sys_sysinfo(SYSINFO_MEMORY, KERNEL, sizeof(struct abi_memory)) == -EFAULT,
		 "sys-info-02", "into the kernel");
	tap_case(sys_machine(99, 0) < 0, "sys-machine-01", "no such operation");
	tap_case(sys_swapon("nosuchdisk", -1) < 0, "sys-swapon-01", "no such disk");
	tap_equal(sys_swapon(HOLE, -1), -EFAULT, "sys-swapon-02", "a name in a hole");
	tap_case(sys_swapoff("nosuchdisk") < 0, "sys-swapoff-01", "no such area");
	tap_equal(sys_swapoff(KERNEL), -EFAULT, "sys-swapoff-02", "a name in the kernel");
	tap_case(sys_archive(77) < 0, "sys-archive-01", "no such module");
}

/* What mmap refuses for the request's own sake. */
static void mapping_requests(void)
{
	const int any = MAP_PRIVATE | MAP_ANONYMOUS;
	int object = sys_object_create(2), archive = sys_archive(0);

	tap_equal(sys_mmap(NULL, 4096, 3, any | MAP_SHARED, -1, 0), -EINVAL, "sys-mmap-06", "private and shared");
	tap_equal(sys_mmap(NULL, 4096, 3, MAP_ANONYMOUS, -1, 0), -EINVAL, "sys-mmap-07", "neither");
	tap_equal(sys_mmap(NULL, 4096, 8, any, -1, 0), -EINVAL, "sys-mmap-08", "no such right");
	tap_equal(sys_mmap(NULL, 4096, 3, any | 0x40000000, -1, 0), -EINVAL, "sys-mmap-09", "no such flag");
	tap_equal(sys_mmap((void *)0x40000001u, 4096, 3, any | MAP_FIXED, -1, 0), -EINVAL, "sys-mmap-10", "fixed, and not aligned");
	tap_equal(sys_mmap(NULL, 4096, 3, MAP_SHARED, 4711, 0), -EBADF, "sys-mmap-11", "a handle that is none");
	tap_equal(sys_mmap(NULL, 2 * 4096, 3, MAP_SHARED, object, 1), -EINVAL, "sys-mmap-12", "beyond the object");
	tap_equal(sys_mmap(NULL, 4096, 3, MAP_SHARED, archive, 0), -EACCES, "sys-mmap-13", "to write into the archive");
	sys_handle_close(object);
	sys_handle_close(archive);
}

/* The rest of the family, where libc lets nothing of the kind through or no other test asks. */
static void advice_and_locks(void)
{
	struct abi_limit soft_above = { .soft = 2, .hard = 1 }, was;
	char *p = tap_map(1);

	tap_equal(sys_madvise(p, 4096, 99), -EINVAL, "sys-madvise-02", "unknown");
	tap_equal(sys_madvise(p, 0xffffffffu, MADV_DONTNEED), -EINVAL, "sys-madvise-03", "wraps");
	tap_equal(sys_madvise((void *)0xc0000000u, 4096, MADV_DONTNEED), -ENOMEM, "sys-madvise-04", "about the kernel");
	sys_mlock(p, 4096);
	tap_equal(sys_madvise(p, 4096, MADV_PAGEOUT), -EINVAL, "sys-madvise-05", "locked memory can't go to swap");
	sys_munlock(p, 4096);
	tap_equal(sys_munlock((void *)0xfffff000u, 2 * 4096), -EINVAL, "sys-munlock-01", "wraps");
	tap_equal(sys_munlock((void *)0xc0000000u, 4096), -ENOMEM, "sys-munlock-02", "the kernel");
	tap_equal(sys_msync(p, 0xffffffffu, MS_SYNC), -ENOMEM, "sys-msync-01", "wraps");
	tap_equal(sys_msync((void *)0xc0000000u, 4096, MS_SYNC), -ENOMEM, "sys-msync-02", "the kernel");
	tap_equal(sys_mincore(p, 0xffffffffu, (unsigned char *)p), -ENOMEM, "sys-mincore-01", "wraps");
	tap_equal(sys_mprotect(p, 0xffffffffu, PROT_READ), -ENOMEM, "sys-mprotect-01", "wraps");
	tap_equal(sys_limit(LIMIT_COUNT, NULL, &was), -EINVAL, "sys-limit-01", "no such limit");
	tap_equal(sys_limit(LIMIT_AS, &soft_above, NULL), -EINVAL, "sys-limit-02", "soft above hard");
	tap_equal(sys_limit(LIMIT_AS, KERNEL, NULL), -EFAULT, "sys-limit-03", "from the kernel");
	tap_equal(sys_limit(LIMIT_AS, NULL, KERNEL), -EFAULT, "sys-limit-04", "into the kernel");
	munmap(p, 4096);
}

static void memory_calls(void)
{
	tap_equal(sys_madvise((void *)1, 4096, MADV_DONTNEED), -EINVAL, "sys-madvise-01", "unaligned");
	tap_equal(sys_munmap((void *)1, 4096), -EINVAL, "sys-munmap-01", "unaligned");
	tap_equal(sys_munmap((void *)0x40000000, 0), -EINVAL, "sys-munmap-02", "of nothing");
	tap_equal(sys_munmap(KERNEL, 4096), -EINVAL, "sys-munmap-03", "of the kernel");
	tap_equal(sys_munmap((void *)0xbf000000u, 0x80000000u), -EINVAL, "sys-munmap-04", "wraps");
	tap_case(sys_failed(sys_mmap(NULL, 0, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
		 "sys-mmap-01", "of nothing");
	tap_case(sys_failed(sys_mmap(NULL, 4096, 3, MAP_PRIVATE, 1, 0)), "sys-mmap-02",
		 "the console can't be mapped");
	tap_case(sys_failed(sys_mmap(NULL, 0xc0000000u, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
		 "sys-mmap-03", "more than there is");
	tap_case(sys_failed(sys_mmap(KERNEL, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)),
		 "sys-mmap-04", "over the kernel");
	tap_case(sys_failed(sys_mmap(NULL, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)),
		 "sys-mmap-05", "at page 0");
	mapping_requests();
	advice_and_locks();
	tap_case(sys_brk(0x1000) == sys_brk(0) || sys_failed(sys_brk(0x1000)), "sys-brk-01",
		 "the heap doesn't end before it begins");
}

int main(void)
{
	numbers();
	clocks();
	reads();
	writes();
	files();
	controls();
	objects();
	privileged();
	memory_calls();
	machine();
	return tap_done();
}
