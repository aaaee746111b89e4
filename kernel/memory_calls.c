/*
 * The system calls of memory: mmap and its family on the caller's address space, and memory
 * objects. The work is mm's; here handles become objects and rights are asked for.
 */
#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "mm/object.h"
#include "mm/vma.h"

enum { COUNT_MAX = 0x7ffff000 };	/* bytes of one transfer: counts stay positive */

/* The object of handle `h` with a reference, or NULL and *err. */
static struct object *object_of(uint32_t h, unsigned rights, int *err)
{
	struct kobject *k = handle_get(&current_task()->handles, (int)h, KOBJECT_OBJECT,
				       rights, err);

	return k == NULL ? NULL : container_of(k, struct object, kobject);
}

/* mmap(address, bytes, prot, flags, object, first page) -> address. Without MAP_ANONYMOUS the
 * object's handle needs the right to map, and to write if the mapping can. */
int32_t sys_mmap(const uint32_t *arg)
{
	struct map_request r = {
		.addr = arg[0], .bytes = arg[1], .prot = arg[2], .flags = arg[3],
		.object_page = arg[5],
	};
	unsigned rights = HANDLE_RIGHT_MAP;
	int64_t result;
	int err;

	if (r.flags & MAP_ANONYMOUS) {
		r.object_page = 0;
	} else {
		r.object = object_of(arg[4], rights | HANDLE_RIGHT_WRITE, &err);
		r.may_write = r.object != NULL;
		if (r.object == NULL && err == -EACCES &&
		    !((r.flags & MAP_SHARED) && (r.prot & PROT_WRITE)))
			r.object = object_of(arg[4], rights, &err);
		if (r.object == NULL)
			return err;
	}
	result = mm_map(current_task()->mm, &r);
	if (r.object != NULL)
		kobject_drop(&r.object->kobject);
	return (int32_t)result;
}

/* munmap(address, bytes) */
int32_t sys_munmap(const uint32_t *arg)
{
	return mm_unmap(current_task()->mm, arg[0], arg[1]);
}

/* brk(end) -> end of the heap as it is afterwards; 0 asks. */
int32_t sys_brk(const uint32_t *arg)
{
	return (int32_t)mm_brk(current_task()->mm, arg[0]);
}

/* mprotect(address, bytes, prot) */
int32_t sys_mprotect(const uint32_t *arg)
{
	return mm_protect(current_task()->mm, arg[0], arg[1], arg[2]);
}

/* mremap(address, old bytes, new bytes, flags, new address) -> address */
int32_t sys_mremap(const uint32_t *arg)
{
	return (int32_t)mm_remap(current_task()->mm, arg[0], arg[1], arg[2], arg[3], arg[4]);
}

/* mlock(address, bytes) */
int32_t sys_mlock(const uint32_t *arg)
{
	return mm_lock(current_task()->mm, arg[0], arg[1]);
}

/* munlock(address, bytes) */
int32_t sys_munlock(const uint32_t *arg)
{
	return mm_unlock(current_task()->mm, arg[0], arg[1]);
}

/* msync(address, bytes, MS_*) */
int32_t sys_msync(const uint32_t *arg)
{
	return mm_sync(current_task()->mm, arg[0], arg[1], arg[2]);
}

/* mincore(address, bytes, array of a byte a page) */
int32_t sys_mincore(const uint32_t *arg)
{
	return mm_incore(current_task()->mm, arg[0], arg[1], arg[2]);
}

/* limit(LIMIT_*, new or 0, old or 0) */
int32_t sys_limit(const uint32_t *arg)
{
	struct abi_limit want, was;
	int err = OK;

	if (arg[1] != 0)
		err = copy_from_user(&want, arg[1], sizeof(want));
	if (err == OK)
		err = mm_limit(current_task()->mm, arg[0], arg[1] ? &want : NULL, &was);
	if (err == OK && arg[2] != 0)
		err = copy_to_user(arg[2], &was, sizeof(was));
	return err;
}

/* madvise(address, bytes, advice) */
int32_t sys_madvise(const uint32_t *arg)
{
	return mm_advise(current_task()->mm, arg[0], arg[1], (int)arg[2]);
}

/* object_create(pages) -> handle with all rights that objects have */
int32_t sys_object_create(const uint32_t *arg)
{
	struct object *o;
	int h;

	if (arg[0] == 0 || arg[0] > UINT32_MAX / PAGE_SIZE)
		return -EINVAL;
	o = object_create(arg[0]);
	if (o == NULL)
		return -ENOMEM;
	h = handle_insert(&current_task()->handles, &o->kobject,
			  HANDLE_RIGHT_READ | HANDLE_RIGHT_WRITE | HANDLE_RIGHT_MAP, 0,
			  HANDLE_AS_SYSTEM);
	if (h < 0)
		kobject_drop(&o->kobject);
	return h;
}

/* Both directions: `right` says which. */
static int32_t object_transfer(const uint32_t *arg, unsigned right)
{
	struct object *o;
	int result;

	o = object_of(arg[0], right, &result);
	if (o == NULL)
		return result;
	if (arg[3] > COUNT_MAX || (right == HANDLE_RIGHT_WRITE && arg[3] != 0 &&
				   arg[1] >= o->bytes))
		result = -EINVAL;
	else if (arg[3] != 0 && !user_range_ok(arg[2], arg[3]))
		result = -EFAULT;
	else if (right == HANDLE_RIGHT_READ)
		result = object_read(o, arg[1], arg[2], arg[3]);
	else
		result = object_write(o, arg[1], arg[2], arg[3]);
	kobject_drop(&o->kobject);
	return result;
}

/* object_read(handle, byte offset, buffer, bytes) -> count */
int32_t sys_object_read(const uint32_t *arg)
{
	return object_transfer(arg, HANDLE_RIGHT_READ);
}

/* object_write(handle, byte offset, buffer, bytes) -> count; -EINVAL at or behind the end,
 * where reading gives 0. */
int32_t sys_object_write(const uint32_t *arg)
{
	return object_transfer(arg, HANDLE_RIGHT_WRITE);
}

/* object_size(handle) -> bytes, or -EOVERFLOW for what no int32_t holds */
int32_t sys_object_size(const uint32_t *arg)
{
	struct object *o;
	int result;

	o = object_of(arg[0], 0, &result);
	if (o == NULL)
		return result;
	result = o->bytes > INT32_MAX ? -EOVERFLOW : (int)o->bytes;
	kobject_drop(&o->kobject);
	return result;
}
