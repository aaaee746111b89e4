/* Circular doubly linked lists; the node lies inside what it links. */
#ifndef KERNEL_LIST_H
#define KERNEL_LIST_H

#include "kernel/types.h"

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(l)	{ &(l), &(l) }

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_insert_between(struct list *n, struct list *prev,
				       struct list *next)
{
	n->prev = prev;
	n->next = next;
	prev->next = n;
	next->prev = n;
}

/* Insert `n` as the first element of `head`. */
static inline void list_insert(struct list *head, struct list *n)
{
	list_insert_between(n, head, head->next);
}

/* Insert `n` as the last element of `head`. */
static inline void list_insert_tail(struct list *head, struct list *n)
{
	list_insert_between(n, head->prev, head);
}

/* Take `n` off its list and leave it a list of its own, so that removing it
 * twice is harmless and list_empty(n) says "on no list". */
static inline void list_remove(struct list *n)
{
	struct list *prev = n->prev, *next = n->next;

	prev->next = next;
	next->prev = prev;
	list_init(n);
}

/* Move all of `from` to the end of `to`; `from` is left empty. */
static inline void list_splice_tail(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first(head, type, member)	list_entry((head)->next, type, member)
#define list_last(head, type, member)	list_entry((head)->prev, type, member)

#define list_for_each(e, head, member)					\
	for (e = list_first(head, __typeof__(*e), member);		\
	     &e->member != (head);					\
	     e = list_first(&e->member, __typeof__(*e), member))

/* As list_for_each, and `e` may be removed in the body; `n` is a spare. */
#define list_for_each_safe(e, n, head, member)				\
	for (e = list_first(head, __typeof__(*e), member),		\
	     n = list_first(&e->member, __typeof__(*e), member);	\
	     &e->member != (head);					\
	     e = n, n = list_first(&n->member, __typeof__(*e), member))

#endif
