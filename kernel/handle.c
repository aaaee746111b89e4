/*
 * Handle tables: two arrays of a task, descriptors and system handles, that grow on
 * demand and never shrink while the task lives. Closing clears a place, drops what it
 * held after the lock is released, and so never allocates and never waits.
 *
 * A handle with HANDLE_RIGHT_RECEIVE also counts as a receiver of its endpoint, which
 * dies with the last one (kernel/endpoint.c). Messages carry no such right, so only the
 * handles of the server's own task and its forks count.
 *
 * Invariants: handle.1, handle.2 (kernel/handle.h). Lock: RANK_HANDLES, one a table.
 */
#include "kernel/abi/errno.h"
#include "kernel/abi/file.h"
#include "kernel/file.h"
#include "kernel/handle.h"
#include "kernel/ipc.h"
#include "kernel/panic.h"
#include "kernel/space.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "mm/object.h"
#include "mm/slab.h"

enum { TABLE_FIRST_COUNT = 8 };

struct range {
	struct handle **slots;
	uint32_t       *count;
	uint32_t	max;
	int		base;		/* number of the first */
	uint32_t	first_free;	/* places below are given by number only */
};

static struct range range_of(struct handle_table *t, enum handle_range which)
{
	if (which == HANDLE_AS_FD)
		return (struct range){ &t->fds, &t->fd_count, HANDLE_FD_MAX, 0, 0 };
	return (struct range){ &t->system, &t->system_count, HANDLE_SYSTEM_MAX,
			       HANDLE_SYSTEM_FIRST, HANDLE_SYSTEM_RESERVED };
}

/* The place of handle `h`, or NULL if the table has none. Lock held. */
static struct handle *handle_place(struct handle_table *t, int h)
{
	uint32_t i = (uint32_t)h;

	if (i < t->fd_count)
		return &t->fds[i];
	i -= HANDLE_SYSTEM_FIRST;		/* wraps, and is too large, below it */
	return i < t->system_count ? &t->system[i] : NULL;
}

void kobject_destroy(struct kobject *k)
{
	KASSERT(k->refs == 0, "handle.1");
	k->ops->destroy(k);
}

/* One more handle names `k` with `rights`; the reference is there already. */
static void receiver_count(struct kobject *k, unsigned rights)
{
	if (k->type == KOBJECT_ENDPOINT && (rights & HANDLE_RIGHT_RECEIVE))
		endpoint_receiver_add(k);
}

/* A handle is gone. Never allocates, never sleeps; takes RANK_IPC. */
static void handle_drop(const struct handle *h)
{
	if (h->object->type == KOBJECT_ENDPOINT && (h->rights & HANDLE_RIGHT_RECEIVE))
		endpoint_receiver_remove(h->object);
	kobject_drop(h->object);
}

void handle_table_init(struct handle_table *t)
{
	memset(t, 0, sizeof(*t));
	spin_init(&t->lock, RANK_HANDLES);
}

/* Make the range hold `need` places at least. OK, -EMFILE, -ENOMEM. Sleeps. */
static int range_grow(struct handle_table *t, enum handle_range which, uint32_t need)
{
	struct range r = range_of(t, which);
	struct handle *larger, *old;
	uint32_t count = MAX(need, MAX(2 * *r.count, TABLE_FIRST_COUNT));

	if (need > r.max)
		return -EMFILE;
	count = MIN(count, r.max);
	larger = kmalloc(count * sizeof(*larger), GFP_KERNEL);
	if (larger == NULL)
		return -ENOMEM;
	memset(larger, 0, count * sizeof(*larger));

	spin_lock(&t->lock);
	old = larger;			/* freed if another thread was quicker */
	if (*r.count < count) {
		if (*r.count != 0)
			memcpy(larger, *r.slots, *r.count * sizeof(*larger));
		old = *r.slots;
		*r.slots = larger;
		*r.count = count;
	}
	spin_unlock(&t->lock);
	if (old != NULL)
		kfree(old);
	return OK;
}

/* Fill a free place; the handle takes over the caller's reference. Lock held. */
static void place_fill(struct handle *p, struct kobject *k, unsigned rights,
		       unsigned flags)
{
	receiver_count(k, rights);
	p->object = k;
	p->rights = (uint8_t)rights;
	p->flags = (uint8_t)flags;
}

/* As handle_insert(), at the lowest free number that is `lowest` or more, counted
 * from the start of the range. */
static int insert_from(struct handle_table *t, struct kobject *k, unsigned rights,
		       unsigned flags, enum handle_range which, uint32_t lowest)
{
	struct range r = range_of(t, which);
	uint32_t i;
	int err;

	for (;;) {			/* each turn grows the table or ends */
		spin_lock(&t->lock);
		for (i = lowest; i < *r.count; i++) {
			if ((*r.slots)[i].object != NULL)
				continue;
			place_fill(&(*r.slots)[i], k, rights, flags);
			spin_unlock(&t->lock);
			return r.base + (int)i;
		}
		spin_unlock(&t->lock);
		err = range_grow(t, which, i + 1);
		if (err != OK)
			return err;
	}
}

int handle_insert(struct handle_table *t, struct kobject *k, unsigned rights,
		  unsigned flags, enum handle_range which)
{
	return insert_from(t, k, rights, flags, which, range_of(t, which).first_free);
}

/*
 * Insert `k` (the reference is taken over) as number `h`, growing the table if need be; what
 * was there is closed, after the lock is released. Returns h, -EBADF for a number of no range,
 * or -ENOMEM (nothing changed). Takes the table's lock; sleeps.
 */
int handle_insert_at(struct handle_table *t, int h, struct kobject *k,
		     unsigned rights, unsigned flags)
{
	enum handle_range which = h < HANDLE_SYSTEM_FIRST ? HANDLE_AS_FD : HANDLE_AS_SYSTEM;
	struct range r = range_of(t, which);
	struct handle old;
	int err;

	if (h < 0 || h >= r.base + (int)r.max)
		return -EBADF;
	if ((uint32_t)(h - r.base) >= *r.count) {
		err = range_grow(t, which, (uint32_t)(h - r.base) + 1);
		if (err != OK)
			return err;
	}
	spin_lock(&t->lock);
	old = (*r.slots)[h - r.base];
	place_fill(&(*r.slots)[h - r.base], k, rights, flags);
	spin_unlock(&t->lock);
	if (old.object != NULL)
		handle_drop(&old);
	return h;
}

/*
 * The object of handle `h`, with a reference, if it has `type` (or that is KOBJECT_ANY) and
 * the handle all of `rights`. Returns NULL otherwise, and *error = -EBADF (no such handle or
 * type) or -EACCES (a right is missing). Takes the table's lock; never sleeps.
 */
struct kobject *handle_get(struct handle_table *t, int h, enum kobject_type type,
			   unsigned rights, int *error)
{
	struct handle *p;
	struct kobject *k = NULL;

	*error = -EBADF;
	spin_lock(&t->lock);
	p = handle_place(t, h);
	if (p != NULL && p->object != NULL &&
	    (type == KOBJECT_ANY || p->object->type == type)) {
		if ((p->rights & rights) == rights) {
			k = p->object;
			kobject_hold(k);
		} else {
			*error = -EACCES;
		}
	}
	spin_unlock(&t->lock);
	return k;
}

/* What a message carries away: the object of `h` with a reference, and the handle's
 * rights, less that to receive. NULL and *error = -EBADF otherwise. */
struct kobject *handle_copy(struct handle_table *t, int h, uint8_t *rights, int *error)
{
	struct handle *p;
	struct kobject *k = NULL;

	*error = -EBADF;
	spin_lock(&t->lock);
	p = handle_place(t, h);
	if (p != NULL && p->object != NULL) {
		k = p->object;
		*rights = p->rights & ~HANDLE_RIGHT_RECEIVE;
		kobject_hold(k);
	}
	spin_unlock(&t->lock);
	return k;
}

int handle_close(struct handle_table *t, int h)
{
	struct handle *p, old = { .object = NULL };

	spin_lock(&t->lock);
	p = handle_place(t, h);
	if (p != NULL) {
		old = *p;
		p->object = NULL;
	}
	spin_unlock(&t->lock);
	if (old.object == NULL)
		return -EBADF;
	handle_drop(&old);
	return OK;
}

/* Close each handle of the table whose flags have all of `flags`. */
static void close_where(struct handle_table *t, unsigned flags)
{
	for (unsigned which = HANDLE_AS_FD; which <= HANDLE_AS_SYSTEM; which++) {
		struct range r = range_of(t, (enum handle_range)which);

		for (uint32_t i = 0; i < *r.count; i++) {
			struct handle *p = &(*r.slots)[i];

			if (p->object != NULL && (p->flags & flags) == flags)
				handle_close(t, r.base + (int)i);
		}
	}
}

/* Close all and free the arrays; the table is empty and usable afterwards. */
void handle_table_close_all(struct handle_table *t)
{
	close_where(t, 0);
	if (t->fds != NULL)
		kfree(t->fds);
	if (t->system != NULL)
		kfree(t->system);
	handle_table_init(t);
}

void handle_table_close_on_exec(struct handle_table *t)
{
	close_where(t, HANDLE_CLOEXEC);
}

static void range_copy(struct handle_table *to, struct handle_table *from,
		       enum handle_range which)
{
	struct range t = range_of(to, which), f = range_of(from, which);

	for (uint32_t i = 0; i < *f.count; i++) {
		struct handle *p = &(*f.slots)[i];

		if (p->object == NULL)
			continue;
		kobject_hold(p->object);
		receiver_count(p->object, p->rights);
		(*t.slots)[i] = *p;
	}
}

/*
 * fork: `to` becomes a table with references to all that `from` has, under the same numbers;
 * endpoints gain receivers. Returns OK, or -ENOMEM, and then `to` is empty. The room is made
 * before the locks are taken; the source may grow meanwhile. Takes from->lock; sleeps.
 */
int handle_table_copy(struct handle_table *to, struct handle_table *from)
{
	int err = OK;

	handle_table_init(to);
	/* The source may grow while an allocation sleeps; it has a limit, so has this. */
	while (err == OK && (to->fd_count < from->fd_count ||
			     to->system_count < from->system_count)) {
		if (to->fd_count < from->fd_count)
			err = range_grow(to, HANDLE_AS_FD, from->fd_count);
		else
			err = range_grow(to, HANDLE_AS_SYSTEM, from->system_count);
	}
	if (err != OK) {
		handle_table_close_all(to);
		return -ENOMEM;
	}
	spin_lock(&from->lock);
	range_copy(to, from, HANDLE_AS_FD);
	range_copy(to, from, HANDLE_AS_SYSTEM);
	spin_unlock(&from->lock);
	return OK;
}

/* The memory object that a handle names, itself or through a file; or NULL. */
static struct object *handle_object(const struct handle *h)
{
	if (h->object != NULL && h->object->type == KOBJECT_OBJECT)
		return container_of(h->object, struct object, kobject);
	if (h->object != NULL && h->object->type == KOBJECT_FILE)
		return container_of(h->object, struct file, kobject)->object;
	return NULL;
}

void handle_table_objects(const struct handle_table *t, void (*fn)(struct object *o, void *arg),
			  void *arg)
{
	struct object *o;

	for (uint32_t i = 0; i < t->fd_count + t->system_count; i++) {
		o = handle_object(i < t->fd_count ? &t->fds[i] : &t->system[i - t->fd_count]);
		if (o != NULL)
			fn(o, arg);
	}
}

/* Pages and slots that would be freed if the handle were the last to name them. */
static void add_pages(struct object *o, void *arg)
{
	if (o->kind == OBJECT_MEMORY)
		*(uint32_t *)arg += o->resident + o->swapped;
}

uint32_t handle_table_pages(const struct handle_table *t)
{
	uint32_t sum = 0;

	handle_table_objects(t, add_pages, &sum);
	return sum;
}

/* handle_close(h): system handles. */
int32_t sys_handle_close(const uint32_t *arg)
{
	int h = (int)arg[0], err;

	if (h < HANDLE_SYSTEM_FIRST)
		return -EBADF;
	err = handle_close(&current_task()->handles, h);
	space_collect();
	return err;
}

/* close(fd): descriptors only, so that a program which closes all it can see keeps
 * its servers. */
int32_t sys_close(const uint32_t *arg)
{
	int fd = (int)arg[0];

	if (fd < 0 || fd >= HANDLE_FD_MAX)
		return -EBADF;
	return handle_close(&current_task()->handles, fd);
}

/* Read the flags of descriptor `fd`, or set them if `set`. */
static int descriptor_flags(struct handle_table *t, int fd, bool set, uint32_t flags)
{
	struct handle *p;
	int result = -EBADF;

	spin_lock(&t->lock);
	p = handle_place(t, fd);
	if (p != NULL && p->object != NULL) {
		if (set)
			p->flags = (uint8_t)(flags & HANDLE_CLOEXEC);
		result = set ? OK : p->flags;
	}
	spin_unlock(&t->lock);
	return result;
}

/* dup and dup2. The copy is not close-on-exec, as POSIX has it. */
static int descriptor_dup(struct handle_table *t, int fd, uint32_t wanted, bool exact)
{
	struct kobject *k;
	uint8_t rights;
	int err, result;

	if (wanted >= HANDLE_FD_MAX)
		return exact ? -EBADF : -EINVAL;
	k = handle_copy(t, fd, &rights, &err);
	if (k == NULL)
		return err;
	if (exact && (int)wanted == fd) {
		kobject_drop(k);
		return fd;
	}
	result = exact ? handle_insert_at(t, (int)wanted, k, rights, 0)
		       : insert_from(t, k, rights, 0, HANDLE_AS_FD, wanted);
	if (result < 0)
		kobject_drop(k);
	return result;
}

/* handle_control(fd, HANDLE_CTL_*, arg) */
int32_t sys_handle_control(const uint32_t *arg)
{
	struct handle_table *t = &current_task()->handles;
	int fd = (int)arg[0];

	if (fd < 0 || fd >= HANDLE_FD_MAX)
		return -EBADF;
	switch (arg[1]) {
	case HANDLE_CTL_DUP:
		return descriptor_dup(t, fd, arg[2], false);
	case HANDLE_CTL_DUP2:
		return descriptor_dup(t, fd, arg[2], true);
	case HANDLE_CTL_GETFD:
		return descriptor_flags(t, fd, false, 0);
	case HANDLE_CTL_SETFD:
		return descriptor_flags(t, fd, true, arg[2]);
	default:
		return -EINVAL;
	}
}
