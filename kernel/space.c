/*
 * Spaces: address spaces under construction, for proc's exec. proc maps program text and
 * data into one, copies the stack image, and hands it to task_create or task_exec, which
 * take the mm over. If proc gives up, it closes the handle and all is gone.
 */
#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
#include "kernel/abi/task.h"
#include "kernel/space.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/usercopy.h"
#include "mm/object.h"
#include "mm/slab.h"
#include "mm/vma.h"

/* Spaces without a handle whose mm is still there. RANK_HANDLES isn't held for it: the
 * list is touched without sleeping, by threads only. */
static struct list dead_spaces = LIST_INIT(dead_spaces);

static void space_destroy(struct kobject *k)
{
	struct space *s = container_of(k, struct space, kobject);

	if (s->mm == NULL)
		kfree(s);
	else
		list_insert_tail(&dead_spaces, &s->dead_link);
}

static const struct kobject_ops space_ops = {
	.name	 = "space",
	.destroy = space_destroy,
};

void space_collect(void)
{
	while (!list_empty(&dead_spaces)) {
		struct space *s = list_first(&dead_spaces, struct space, dead_link);

		list_remove(&s->dead_link);
		mm_destroy(s->mm);
		kfree(s);
	}
}

struct space *space_get(struct handle_table *t, int h, int *err)
{
	struct kobject *k = handle_get(t, h, KOBJECT_SPACE, 0, err);

	return k == NULL ? NULL : container_of(k, struct space, kobject);
}

/* space_create() -> handle. proc only. */
int32_t sys_space_create(const uint32_t *arg)
{
	struct task *me = current_task();
	struct space *s;
	int h;

	(void)arg;
	if (!(me->flags & TASK_PROC))
		return -EPERM;
	s = kmalloc(sizeof(*s), GFP_KERNEL);
	if (s == NULL)
		return -ENOMEM;
	kobject_init(&s->kobject, KOBJECT_SPACE, &space_ops);
	list_init(&s->dead_link);
	s->mm = mm_create();
	if (s->mm == NULL) {
		kfree(s);
		return -ENOMEM;
	}
	h = handle_insert(&me->handles, &s->kobject, 0, 0, HANDLE_AS_SYSTEM);
	if (h < 0) {
		kobject_drop(&s->kobject);
		space_collect();
	}
	return h;
}

/* Check what proc asks to map. The kernel's mm_map() checks again; here lies what is
 * special to a space: the place is fixed, sharing is not offered. */
static int map_check(const struct abi_space_map *m)
{
	uint32_t known = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN;
	bool anonymous = m->flags & MAP_ANONYMOUS;

	if ((m->flags & ~known) || !(m->flags & MAP_PRIVATE) ||
	    (m->prot & ~(uint32_t)(PROT_READ | PROT_WRITE | PROT_EXEC)))
		return -EINVAL;
	if (m->bytes == 0 || ((m->address | m->bytes) & ~PAGE_MASK) ||
	    !user_range_ok(m->address, m->bytes))
		return -EINVAL;
	if (anonymous != (m->object == -1))
		return -EINVAL;
	return OK;
}

/* space_map(handle, struct abi_space_map *). proc only. */
int32_t sys_space_map(const uint32_t *arg)
{
	struct handle_table *t = &current_task()->handles;
	struct kobject *object = NULL;
	struct abi_space_map m;
	struct map_request r;
	struct space *s;
	int64_t result;
	int err;

	if (!(current_task()->flags & TASK_PROC))
		return -EPERM;
	err = copy_from_user(&m, arg[1], sizeof(m));
	if (err == OK)
		err = map_check(&m);
	if (err != OK)
		return err;
	if (m.object != -1) {
		object = handle_get(t, m.object, KOBJECT_OBJECT, HANDLE_RIGHT_MAP, &err);
		if (object == NULL)
			return err;
	}
	s = space_get(t, (int)arg[0], &err);
	if (s != NULL && s->mm == NULL)
		err = -EBADF;
	else if (s != NULL) {
		r = (struct map_request){
			.addr = m.address, .bytes = m.bytes, .prot = m.prot,
			.flags = m.flags | MAP_FIXED,
			.object = object ? container_of(object, struct object, kobject) : NULL,
			.object_page = m.object_page,
		};
		result = mm_map(s->mm, &r);
		err = result < 0 ? (int)result : OK;
	}
	if (s != NULL)
		kobject_drop(&s->kobject);
	if (object != NULL)
		kobject_drop(object);
	return err;
}

/* space_write(handle, struct abi_space_write *). proc only. */
int32_t sys_space_write(const uint32_t *arg)
{
	struct handle_table *t = &current_task()->handles;
	struct abi_space_write w;
	struct kobject *object;
	struct space *s;
	int err;

	if (!(current_task()->flags & TASK_PROC))
		return -EPERM;
	err = copy_from_user(&w, arg[1], sizeof(w));
	if (err != OK)
		return err;
	if (w.bytes > SPACE_WRITE_MAX || w.object_byte + w.bytes < w.object_byte)
		return -EINVAL;
	if (!user_range_ok(w.address, w.bytes))
		return -EFAULT;
	object = handle_get(t, w.object, KOBJECT_OBJECT, HANDLE_RIGHT_READ, &err);
	if (object == NULL)
		return err;
	s = space_get(t, (int)arg[0], &err);
	if (s != NULL) {
		err = s->mm == NULL ? -EBADF :
		      mm_write(s->mm, w.address, container_of(object, struct object, kobject),
			       w.object_byte, w.bytes);
		kobject_drop(&s->kobject);
	}
	kobject_drop(object);
	return err;
}
