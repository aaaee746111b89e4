/*
 * Radix trees: a 32-bit index names one word (never 0). 64 slots a node, six bits of the
 * index a level; the tree is as high as its highest index needs.
 *
 * radix.1  a node's `used` is the number of its slots that aren't NULL; no node is empty
 * radix.2  height 0 <=> root == NULL
 *
 * radix_insert() takes its nodes without sleeping, because the tree's lock is a spinlock;
 * when it fails, radix_reserve() sleeps for memory with no lock held, and the caller tries
 * again.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "mm/audit.h"
#include "mm/object.h"
#include "mm/slab.h"

enum {
	RADIX_BITS = 6,
	RADIX_SLOTS = 1 << RADIX_BITS,
	RADIX_HEIGHT_MAX = 6,
	RADIX_NODES_MAX = 2 * RADIX_HEIGHT_MAX,	/* that one insertion can need */
};

struct radix_node {
	uint32_t used;
	void	*slot[RADIX_SLOTS];
};
SLAB_CACHE(radix_cache, "radix", struct radix_node);

/* Which slot of a node at `level` (1: the lowest) leads to `index`. */
static unsigned slot_of(uint32_t index, unsigned level)
{
	return index >> ((level - 1) * RADIX_BITS) & (RADIX_SLOTS - 1);
}

/* How high a tree must be to hold `index`. */
static unsigned height_for(uint32_t index)
{
	unsigned height = 1;

	while (height < RADIX_HEIGHT_MAX && index >> (height * RADIX_BITS) != 0)
		height++;
	return height;
}

/* How many nodes an insertion at `index` has to make. */
static unsigned nodes_missing(const struct radix *r, uint32_t index)
{
	const struct radix_node *node = r->root;
	unsigned height = height_for(index), level = r->height;

	if (!node)
		return height;
	if (height > level)		/* so many on top, and the path on their left or right */
		return height - level + height - 1;
	while (level > 1) {
		node = node->slot[slot_of(index, level)];
		if (!node)
			return level - 1;
		level--;
	}
	return 0;
}

/* Take `count` empty nodes into spare[], or none and -ENOMEM. */
static int take_nodes(struct radix_node **spare, unsigned count, enum gfp flags)
{
	for (unsigned i = 0; i < count; i++) {
		spare[i] = slab_alloc(&radix_cache, flags | GFP_ZERO);
		if (!spare[i]) {
			while (i > 0)
				slab_free(&radix_cache, spare[--i]);
			return -ENOMEM;
		}
	}
	return OK;
}

/*
 * Put `item` (not NULL) at `index`, where there is nothing; the tree grows as high as `index`
 * needs, and keeps radix.1 and radix.2. Returns OK, or -ENOMEM: then nothing is changed; call
 * radix_reserve() without the tree's lock and try again. All nodes are taken before the tree
 * is touched, with GFP_ATOMIC. The tree's lock is held by the caller; never sleeps.
 */
int radix_insert(struct radix *r, uint32_t index, void *item)
{
	struct radix_node *spare[RADIX_NODES_MAX], *node;
	unsigned left = nodes_missing(r, index);
	unsigned height = MAX(height_for(index), r->height);

	if (take_nodes(spare, left, GFP_ATOMIC) < 0)
		return -ENOMEM;
	while (r->height < height) {
		node = r->root;
		r->root = spare[--left];
		if (node) {
			((struct radix_node *)r->root)->slot[0] = node;
			((struct radix_node *)r->root)->used = 1;
			r->height++;
		} else {
			r->height = height;
		}
	}
	node = r->root;
	for (unsigned level = r->height; level > 1; level--) {
		void **slot = &node->slot[slot_of(index, level)];

		if (!*slot) {
			*slot = spare[--left];
			node->used++;
		}
		node = *slot;
	}
	while (left > 0)
		slab_free(&radix_cache, spare[--left]);
	KASSERT2(!node->slot[slot_of(index, 1)], "radix: slot free", index, r->height);
	node->slot[slot_of(index, 1)] = item;
	node->used++;
	return OK;
}

/* Make it likely that the next radix_insert() finds its nodes. -ENOMEM. Sleeps. */
int radix_reserve(void)
{
	struct radix_node *spare[RADIX_NODES_MAX];

	if (take_nodes(spare, RADIX_NODES_MAX, GFP_KERNEL) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < RADIX_NODES_MAX; i++)
		slab_free(&radix_cache, spare[i]);
	return OK;
}

/* Where the item at `index` is kept, or NULL if there is no node for it. */
static void **radix_slot(const struct radix *r, uint32_t index)
{
	struct radix_node *node = r->root;

	if (!node || height_for(index) > r->height)
		return NULL;
	for (unsigned level = r->height; level > 1 && node; level--)
		node = node->slot[slot_of(index, level)];
	return node ? &node->slot[slot_of(index, 1)] : NULL;
}

/* The item at `index` or NULL. */
void *radix_find(const struct radix *r, uint32_t index)
{
	void **slot = radix_slot(r, index);

	return slot ? *slot : NULL;
}

/* Put `item` in place of the one at `index`, which must be there. Returns the old one. */
void *radix_replace(struct radix *r, uint32_t index, void *item)
{
	void **slot = radix_slot(r, index), *old;

	KASSERT2(slot && *slot && item, "radix: replaced", index, r->height);
	old = *slot;
	*slot = item;
	return old;
}

/*
 * Take out what is at `index` and return it, or NULL if there is nothing. A node without
 * items is freed, and its parent's slot with it, up to the root (radix.1, radix.2); the tree
 * keeps its height until it is empty. The tree's lock is held by the caller; never sleeps.
 */
void *radix_remove(struct radix *r, uint32_t index)
{
	struct radix_node *path[RADIX_HEIGHT_MAX + 1], *node = r->root;
	unsigned level = r->height;
	void *item;

	if (!radix_find(r, index))
		return NULL;
	for (; level > 1; level--) {
		path[level] = node;
		node = node->slot[slot_of(index, level)];
	}
	path[1] = node;
	item = node->slot[slot_of(index, 1)];
	for (level = 1; level <= r->height; level++) {
		node = path[level];
		node->slot[slot_of(index, level)] = NULL;
		if (--node->used > 0)
			return item;
		slab_free(&radix_cache, node);
	}
	r->root = NULL;
	r->height = 0;
	return item;
}

/* The first item at or after *index below `node` of `level`, or NULL; *index is set to
 * its place, or to where the search has to go on. */
static void *next_below(const struct radix_node *node, unsigned level, uint32_t *index,
			bool *end)
{
	uint32_t step = 1u << ((level - 1) * RADIX_BITS);

	for (unsigned i = slot_of(*index, level); i < RADIX_SLOTS; i++) {
		void *item = node->slot[i];

		if (item && level > 1)
			item = next_below(item, level - 1, index, end);
		if (item || *end)
			return item;
		if (!node->slot[i] || level == 1) {
			uint32_t at = (*index & ~(step - 1)) + step;

			*end = at == 0;
			*index = at;
			if (*end)
				return NULL;
		}
	}
	return NULL;
}

/* The first item at or after *index (which is set to its place), or NULL. */
void *radix_next(const struct radix *r, uint32_t *index)
{
	bool end = false;

	if (!r->root || height_for(*index) > r->height)
		return NULL;
	return next_below(r->root, r->height, index, &end);
}

/* Nodes below and with `node` of `level` that break radix.1. */
static unsigned check_node(const struct radix_node *node, unsigned level)
{
	unsigned bad = 0, used = 0;

	for (unsigned i = 0; i < RADIX_SLOTS; i++) {
		used += node->slot[i] != NULL;
		if (node->slot[i] && level > 1)
			bad += check_node(node->slot[i], level - 1);
	}
	if (used != node->used || used == 0)
		bad += audit_violation("radix.1", "a node of level %u says %u used, has %u", level,
				       node->used, used);
	return bad;
}

/* Check radix.1 and radix.2 of one tree; prints each violation, returns how many. The tree's
 * lock is held, or nobody sleeps meanwhile. */
unsigned radix_check(const struct radix *r)
{
	if ((r->root != NULL) != (r->height > 0))
		return audit_violation("radix.2", "height 0 means no root: height %u, root %p",
				       r->height, r->root);
	return r->root ? check_node(r->root, r->height) : 0;
}

/* The tree is empty by now: every node went with its last item. */
void radix_destroy(struct radix *r)
{
	KASSERT2(!r->root && r->height == 0, "radix.2", r->height, 0);
}
