/*
 * Open files. Two kinds so far: bytes of a memory object, read-only, with an offset that
 * all its descriptors share; and the console. The system calls here take a descriptor,
 * find the file and its rights, and leave the rest to the file's operations.
 */
#include "kernel/abi/errno.h"
#include "kernel/console.h"
#include "kernel/file.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/usercopy.h"
#include "mm/object.h"
#include "mm/slab.h"

enum {
	CONSOLE_CHUNK = 256,		/* copied through the kernel's stack */
	CONSOLE_MODE = ABI_S_IFCHR | 0620,
	OBJECT_MODE = ABI_S_IFREG | 0555,
	READ_MAX = 0x7ffff000,		/* a count must stay positive */
};

static struct file console_file;

/* ---- Files over an object ---- */

static int object_file_read(struct file *f, vaddr_t buffer, size_t bytes)
{
	uint64_t left = f->offset < f->size ? f->size - f->offset : 0;
	int count;

	if (bytes > left)
		bytes = (size_t)left;
	if (bytes == 0)
		return 0;
	count = object_read(f->object, f->first_byte + (uint32_t)f->offset, buffer, bytes);
	if (count > 0)
		f->offset += (uint32_t)count;
	return count;
}

static int object_file_write(struct file *f, vaddr_t buffer, size_t bytes)
{
	(void)f;
	(void)buffer;
	(void)bytes;
	return -EROFS;
}

/* Beyond the end is allowed, as POSIX has it; before the start or beyond 2^63 is not. */
static int object_file_seek(struct file *f, int64_t offset, int whence, uint64_t *result)
{
	int64_t base, place;

	switch (whence) {
	case ABI_SEEK_SET:
		base = 0;
		break;
	case ABI_SEEK_CUR:
		base = (int64_t)f->offset;
		break;
	case ABI_SEEK_END:
		base = (int64_t)f->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, offset, &place))
		return -EOVERFLOW;
	if (place < 0)
		return -EINVAL;
	f->offset = (uint64_t)place;
	*result = f->offset;
	return OK;
}

static void object_file_stat(struct file *f, struct abi_stat *st)
{
	st->mode = OBJECT_MODE;
	st->inode = f->first_byte >> PAGE_SHIFT;
	st->size = f->size;
}

static void object_file_release(struct file *f)
{
	kobject_drop(&f->object->kobject);
	kfree(f);
}

static const struct file_ops object_file_ops = {
	.name	 = "object",
	.read	 = object_file_read,
	.write	 = object_file_write,
	.seek	 = object_file_seek,
	.stat	 = object_file_stat,
	.release = object_file_release,
};

/* ---- The console ---- */

static int console_read(struct file *f, vaddr_t buffer, size_t bytes)
{
	char chunk[CONSOLE_CHUNK];
	int count;

	(void)f;
	if (bytes == 0)
		return 0;
	count = console_get(chunk, MIN(bytes, sizeof(chunk)));
	if (count > 0 && copy_to_user(buffer, chunk, (size_t)count) != OK)
		return -EFAULT;
	return count;
}

/* What was put before a bad page was reached counts; -EFAULT only if that is nothing. Others
 * may run in between, and a killed caller doesn't go on: gigabytes may be asked for. */
static int console_write(struct file *f, vaddr_t buffer, size_t bytes)
{
	char chunk[CONSOLE_CHUNK];
	size_t done = 0;

	(void)f;
	while (done < bytes && !current->killed) {
		size_t n = MIN(bytes - done, sizeof(chunk));

		if (copy_from_user(chunk, buffer + (vaddr_t)done, n) != OK)
			return done != 0 ? (int)done : -EFAULT;
		console_put(chunk, n);
		done += n;
		cond_resched();
	}
	return (int)done;
}

static int console_seek(struct file *f, int64_t offset, int whence, uint64_t *result)
{
	(void)f;
	(void)offset;
	(void)whence;
	(void)result;
	return -ESPIPE;
}

static void console_stat(struct file *f, struct abi_stat *st)
{
	(void)f;
	st->mode = CONSOLE_MODE;
	st->inode = 0;
	st->size = 0;
}

/* Never called: file_init()'s own reference stays for ever. */
static void console_release(struct file *f)
{
	(void)f;
}

static const struct file_ops console_file_ops = {
	.name	 = "console",
	.read	 = console_read,
	.write	 = console_write,
	.seek	 = console_seek,
	.stat	 = console_stat,
	.release = console_release,
};

/* ---- Making files ---- */

static void file_destroy(struct kobject *k)
{
	struct file *f = container_of(k, struct file, kobject);

	f->ops->release(f);
}

static const struct kobject_ops file_kobject_ops = {
	.name	 = "file",
	.destroy = file_destroy,
};

static void file_setup(struct file *f, const struct file_ops *ops)
{
	memset(f, 0, sizeof(*f));
	kobject_init(&f->kobject, KOBJECT_FILE, &file_kobject_ops);
	f->ops = ops;
}

struct file *file_create(struct object *object, uint32_t first_byte, uint64_t size)
{
	struct file *f = kmalloc(sizeof(*f), GFP_KERNEL);

	if (f == NULL)
		return NULL;
	file_setup(f, &object_file_ops);
	f->object = object;
	f->first_byte = first_byte;
	f->size = size;
	return f;
}

struct file *file_console(void)
{
	kobject_hold(&console_file.kobject);
	return &console_file;
}

void file_init(void)
{
	file_setup(&console_file, &console_file_ops);
}

/* ---- System calls ---- */

/* The file of a descriptor with a reference. A right that is missing is -EBADF here, as
 * POSIX has it for read and write. System handles are no descriptors. */
static struct file *file_get(uint32_t fd, unsigned rights, int *err)
{
	struct kobject *k = NULL;

	*err = -EBADF;
	if (fd < HANDLE_FD_MAX)
		k = handle_get(&current_task()->handles, (int)fd, KOBJECT_FILE, rights, err);
	if (k == NULL) {
		*err = -EBADF;
		return NULL;
	}
	return container_of(k, struct file, kobject);
}

/* Read or write, by `right`: the buffer is checked as a whole first. */
static int32_t transfer(const uint32_t *arg, unsigned right)
{
	vaddr_t buffer = arg[1];
	size_t bytes = arg[2];
	struct file *f;
	int result;

	f = file_get(arg[0], right, &result);
	if (f == NULL)
		return result;
	if (bytes > READ_MAX)
		result = -EINVAL;
	else if (bytes != 0 && !user_range_ok(buffer, bytes))
		result = -EFAULT;
	else if (right == HANDLE_RIGHT_READ)
		result = f->ops->read(f, buffer, bytes);
	else
		result = f->ops->write(f, buffer, bytes);
	kobject_drop(&f->kobject);
	return result;
}

/* read(descriptor, buffer, bytes) -> count, 0 at the end */
int32_t sys_read(const uint32_t *arg)
{
	return transfer(arg, HANDLE_RIGHT_READ);
}

/* write(descriptor, buffer, bytes) -> count */
int32_t sys_write(const uint32_t *arg)
{
	return transfer(arg, HANDLE_RIGHT_WRITE);
}

/* seek(descriptor, offset low, offset high, whence, uint64_t *result). If the result
 * can't be stored the offset has moved all the same. */
int32_t sys_seek(const uint32_t *arg)
{
	int64_t offset = (int64_t)((uint64_t)arg[2] << 32 | arg[1]);
	uint64_t place = 0;
	struct file *f;
	int err;

	f = file_get(arg[0], 0, &err);
	if (f == NULL)
		return err;
	err = f->ops->seek(f, offset, (int)arg[3], &place);
	kobject_drop(&f->kobject);
	return err != OK ? err : copy_to_user(arg[4], &place, sizeof(place));
}

/* fstat(descriptor, struct abi_stat *) */
int32_t sys_fstat(const uint32_t *arg)
{
	struct abi_stat st;
	struct file *f;
	int err;

	f = file_get(arg[0], 0, &err);
	if (f == NULL)
		return err;
	memset(&st, 0, sizeof(st));
	f->ops->stat(f, &st);
	kobject_drop(&f->kobject);
	return copy_to_user(arg[1], &st, sizeof(st));
}

/* file_create(object, first byte, bytes) -> descriptor, readable only. The range must lie
 * inside the object (-EINVAL). */
int32_t sys_file_create(const uint32_t *arg)
{
	struct handle_table *t = &current_task()->handles;
	struct object *object;
	struct kobject *k;
	struct file *f;
	int result;

	k = handle_get(t, (int)arg[0], KOBJECT_OBJECT, HANDLE_RIGHT_READ, &result);
	if (k == NULL)
		return result;
	object = container_of(k, struct object, kobject);
	if (arg[1] > object->bytes || arg[2] > object->bytes - arg[1]) {
		kobject_drop(k);
		return -EINVAL;
	}
	f = file_create(object, arg[1], arg[2]);
	if (f == NULL) {
		kobject_drop(k);
		return -ENOMEM;
	}
	result = handle_insert(t, &f->kobject, HANDLE_RIGHT_READ, 0, HANDLE_AS_FD);
	if (result < 0)
		kobject_drop(&f->kobject);
	return result;
}
