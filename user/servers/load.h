/* Building address spaces for programs. */
#ifndef SERVERS_LOAD_H
#define SERVERS_LOAD_H

#include <stdint.h>
#include "kernel/abi/task.h"
#include "user/servers/names.h"

/*
 * Build a fresh address space for program `file` with the first stack from the
 * first `image_bytes` bytes of memory object `image`. Fills *exec; the caller owns
 * exec->space. -ENOEXEC, -ENOMEM, -EACCES, -EINVAL (a bad image) or what the kernel
 * says; nothing is left behind then.
 */
int program_load(struct abi_exec *exec, const struct file_name *file, int image,
		 uint32_t image_bytes);

#endif
