/*
 * Open files: what a descriptor names. read, write and lseek go straight here;
 * a server is asked only for what the kernel can't know (none of it yet).
 */
#ifndef KERNEL_FILE_H
#define KERNEL_FILE_H

#include "kernel/abi/file.h"
#include "kernel/handle.h"
#include "kernel/types.h"

struct file;
struct object;

/* Every member is required. read and write sleep, take user addresses, return a
 * count or a negative errno. */
struct file_ops {
	const char *name;
	int  (*read)(struct file *f, vaddr_t buffer, size_t bytes);
	int  (*write)(struct file *f, vaddr_t buffer, size_t bytes);
	int  (*seek)(struct file *f, int64_t offset, int whence, uint64_t *result);
	void (*stat)(struct file *f, struct abi_stat *st);
	void (*release)(struct file *f);	/* never allocates, never sleeps */
};

struct file {
	struct kobject	       kobject;		/* first */
	const struct file_ops *ops;
	uint64_t	       offset;		/* next byte to read */
	uint64_t	       size;		/* bytes, KOBJECT_OBJECT files */
	uint32_t	       first_byte;	/* of `object` */
	struct object	      *object;		/* NULL for the console */
};

/* A read-only file over bytes [first_byte, first_byte + size) of `object`, whose
 * reference it takes over. NULL without memory. Sleeps. */
struct file *file_create(struct object *object, uint32_t first_byte, uint64_t size);
/* The console, one object for all. Takes a reference for the caller. */
struct file *file_console(void);
void file_init(void);

#endif
