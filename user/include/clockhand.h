/*
 * What Clockhand offers besides POSIX: the system calls themselves and the few
 * wrappers that programs share. Every sys_ function returns a value or a
 * negative errno and leaves `errno` alone; kernel/abi/syscalls.def says what its
 * arguments mean.
 */
#ifndef _CLOCKHAND_H
#define _CLOCKHAND_H

#include <stddef.h>
#include <stdint.h>
#include <kernel/abi/file.h>
#include <kernel/abi/handle.h>
#include <kernel/abi/ipc.h>
#include <kernel/abi/sysinfo.h>
#include <kernel/abi/task.h>

#define CLOCKHAND_PAGE 4096u

int sys_null(void);
int sys_yield(void);
void sys_exit(int status) __attribute__((noreturn));
int sys_log(const char *text, size_t bytes);
int sys_clock(int which, uint64_t *ns);
int sys_sleep(uint32_t ns_low, uint32_t ns_high);

int sys_endpoint_create(void);
int sys_ipc_call(int endpoint, struct ipc_message *m);
int sys_ipc_receive(int endpoint, struct ipc_message *m);
int sys_ipc_reply(uint32_t token, struct ipc_message *m);
int sys_ipc_reply_receive(uint32_t token, int endpoint, struct ipc_message *m);
int sys_ipc_notify(int endpoint, uint32_t bits);

int sys_handle_close(int handle);
int sys_close(int fd);
int sys_handle_control(int fd, int op, int arg);
int sys_read(int fd, void *buffer, size_t bytes);
int sys_write(int fd, const void *buffer, size_t bytes);
int sys_seek(int fd, uint32_t low, uint32_t high, int whence, uint64_t *result);
int sys_fstat(int fd, struct abi_stat *st);
int sys_file_create(int object, uint32_t first_byte, uint32_t bytes);

int sys_object_create(uint32_t pages);
int sys_object_read(int object, uint32_t byte, void *buffer, size_t bytes);
int sys_object_write(int object, uint32_t byte, const void *buffer, size_t bytes);
int sys_object_size(int object);

/* Returns an address; those of user space never look like an errno. */
int sys_mmap(void *addr, size_t bytes, int prot, int flags, int object, uint32_t first_page);
int sys_munmap(void *addr, size_t bytes);
int sys_brk(uint32_t end);
int sys_madvise(void *addr, size_t bytes, int advice);
int sys_mprotect(void *addr, size_t bytes, int prot);
int sys_mremap(void *addr, size_t old_bytes, size_t new_bytes, int flags, void *new_addr);
int sys_mlock(const void *addr, size_t bytes);
int sys_munlock(const void *addr, size_t bytes);
int sys_msync(void *addr, size_t bytes, int flags);
int sys_mincore(void *addr, size_t bytes, unsigned char *vec);
int sys_limit(int which, const struct abi_limit *want, struct abi_limit *was);

int sys_space_create(void);
int sys_space_map(int space, const struct abi_space_map *map);
int sys_space_write(int space, const struct abi_space_write *write);
int sys_task_create(int pid, const struct abi_exec *exec);
int sys_task_exec(uint32_t token, const struct abi_exec *exec);
int sys_task_clone(uint32_t token, int pid);
int sys_task_control(int pid, int op, uint32_t arg);
int sys_task_reap(struct abi_reaped *reaped);
int sys_task_usage(struct abi_usage *usage);

int sys_sysinfo(int what, void *buffer, size_t bytes);
int sys_machine(int op, uint32_t arg);
int sys_swapon(const char *name, int priority);
int sys_swapoff(const char *name);
int sys_archive(unsigned n);

/* True if an address or count that a call returned is an errno. */
static inline int sys_failed(int result)
{
	return (uint32_t)result >= (uint32_t)-4095;
}

/* Put a failed call's errno where C programs look and return -1; else the result. */
int libc_result(int result);

/* Call the proc server with what is in `m`; -errno of the kernel or of proc. */
int proc_call(struct ipc_message *m);
/* The same with a path as data (-ENAMETOOLONG). The reply's data go to `reply`. */
int proc_call_path(struct ipc_message *m, const char *path, void *reply, size_t room);

/* Monotonic time in nanoseconds. */
uint64_t clock_ns(void);

/* The value of counter (or gauge) `name` in text that SYSINFO_COUNTERS gave; 0 if absent. */
uint64_t counter_find(const char *text, const char *name);

#endif
