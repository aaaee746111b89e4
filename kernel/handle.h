/*
 * Kernel objects and the handles that name them: docs/formats.md, "Handles".
 *
 * handle.1  a kobject's count = handles + kernel pointers that took a reference
 * handle.2  descriptors are 0 to HANDLE_FD_MAX - 1, system handles lie above
 */
#ifndef KERNEL_HANDLE_H
#define KERNEL_HANDLE_H

#include "kernel/abi/errno.h"
#include "kernel/abi/handle.h"
#include "kernel/lock.h"
#include "kernel/types.h"

enum kobject_type {
	KOBJECT_ANY = 0,	/* only in look-ups */
	KOBJECT_ENDPOINT,	/* struct endpoint	kernel/ipc.c   */
	KOBJECT_OBJECT,		/* struct object	mm/object.c    */
	KOBJECT_FILE,		/* struct file		kernel/file.c  */
	KOBJECT_SPACE,		/* an mm under construction  kernel/space.c */
};

struct kobject;

struct kobject_ops {
	const char *name;
	/* The last reference is gone: free it. Never allocates, never sleeps. */
	void (*destroy)(struct kobject *k);
};

struct kobject {		/* first member of what it heads */
	uint8_t			  type;		/* enum kobject_type */
	uint32_t		  refs;
	const struct kobject_ops *ops;
};

static inline void kobject_init(struct kobject *k, enum kobject_type type,
				const struct kobject_ops *ops)
{
	k->type = (uint8_t)type;
	k->refs = 1;
	k->ops = ops;
}

static inline void kobject_hold(struct kobject *k)
{
	k->refs++;
}

/* The last reference went, or one that wasn't there. */
void kobject_destroy(struct kobject *k);

static inline void kobject_drop(struct kobject *k)
{
	if ((int32_t)--k->refs <= 0)
		kobject_destroy(k);
}

struct handle {
	struct kobject *object;		/* NULL: free */
	uint8_t		rights;		/* HANDLE_RIGHT_* */
	uint8_t		flags;		/* HANDLE_CLOEXEC */
};

struct handle_table {
	struct spinlock lock;		/* RANK_HANDLES */
	struct handle  *fds;		/* [fd_count], grown on demand up to HANDLE_FD_MAX */
	uint32_t	fd_count;
	struct handle  *system;		/* [system_count], up to HANDLE_SYSTEM_MAX */
	uint32_t	system_count;
};

void handle_table_init(struct handle_table *t);
/* Copy for fork: references to all, same numbers. -ENOMEM leaves `to` empty. Sleeps. */
int  handle_table_copy(struct handle_table *to, struct handle_table *from);
void handle_table_close_all(struct handle_table *t);
void handle_table_close_on_exec(struct handle_table *t);

enum handle_range { HANDLE_AS_FD, HANDLE_AS_SYSTEM };
/* Insert `k` (the handle takes over the caller's reference) at the lowest free
 * number of the range. Returns it, -EMFILE or -ENOMEM (reference not taken). Sleeps. */
int  handle_insert(struct handle_table *t, struct kobject *k, unsigned rights,
		   unsigned flags, enum handle_range range);
/* The object of handle `h` with a reference, if it has the type and the rights.
 * NULL and *error = -EBADF or -EACCES otherwise. */
struct kobject *handle_get(struct handle_table *t, int h, enum kobject_type type,
			   unsigned rights, int *error);
/* The same for an endpoint's handle and without a reference: IPC's way. It needs no lock,
 * as no table changes before the caller sleeps; by then it has taken a reference. */
static inline struct kobject *handle_peek_endpoint(const struct handle_table *t, int h,
						   unsigned rights, int *error)
{
	uint32_t i = (uint32_t)h - HANDLE_SYSTEM_FIRST;
	struct kobject *k;

	*error = -EBADF;
	if (i >= t->system_count)
		return NULL;
	k = t->system[i].object;
	if (k == NULL || k->type != KOBJECT_ENDPOINT)
		return NULL;
	*error = -EACCES;
	return (t->system[i].rights & rights) == rights ? k : NULL;
}
int  handle_close(struct handle_table *t, int h);
/* Pages, in memory and in swap, of the objects that the table's handles name, themselves or
 * through files: for the OOM killer. One that is named twice counts twice. Never sleeps. */
uint32_t handle_table_pages(const struct handle_table *t);
/* Call fn for every memory object that the table's handles name, themselves or through files. */
struct object;
void handle_table_objects(const struct handle_table *t, void (*fn)(struct object *o, void *arg),
			  void *arg);
/* Insert at a number of the caller's choice, closing what was there. Returns it,
 * -EBADF or -ENOMEM (reference not taken). Sleeps. */
int  handle_insert_at(struct handle_table *t, int h, struct kobject *k,
		      unsigned rights, unsigned flags);

/* What a message takes along: the object of `h` with a reference, and its rights but
 * for the right to receive. NULL and *error = -EBADF. */
struct kobject *handle_copy(struct handle_table *t, int h, uint8_t *rights, int *error);

#endif
