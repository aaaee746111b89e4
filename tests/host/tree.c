/*
 * The red-black tree against a sorted array.
 * links: mm/tree.c mm/frame.c mm/page.c
 */
#include <string.h>

#include "mm/vma.h"
#include "shim.h"

enum { KEYS = 700, STEPS = 30000, RED = 0 };

static struct item { uint32_t key; struct tree_node node; } items[KEYS];
static bool present[KEYS];
static struct tree tree;
static unsigned seen;

static void insert(unsigned key)
{
	struct tree_node *parent = NULL, *n = tree.root;
	bool left = false;

	while (n) {
		parent = n;
		left = key < container_of(n, struct item, node)->key;
		n = left ? n->left : n->right;
	}
	items[key].key = key;
	tree_insert(&tree, &items[key].node, parent, left);
	present[key] = true;
}

/* Black height of `n`; keys must lie in [low, high). */
static unsigned check(const struct tree_node *n, unsigned low, unsigned high, unsigned depth)
{
	const struct item *i;
	unsigned left, right;

	if (!n)
		return 0;
	i = container_of(n, struct item, node);
	seen++;
	CHECK(depth < 24);
	CHECK(i->key >= low && i->key < high && present[i->key]);
	CHECK(!n->left || n->left->parent == n);
	CHECK(!n->right || n->right->parent == n);
	if (n->colour == RED)
		CHECK((!n->left || n->left->colour != RED) &&
		      (!n->right || n->right->colour != RED));
	left = check(n->left, low, i->key, depth + 1);
	right = check(n->right, i->key + 1, high, depth + 1);
	CHECK(left == right);
	return left + (n->colour != RED);
}

static void check_all(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < KEYS; i++)
		count += present[i];
	seen = 0;
	check(tree.root, 0, KEYS, 0);
	CHECK(seen == count);
}

static void test_random(uint32_t seed)
{
	shim_seed(seed);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned key = shim_random(KEYS);

		if (present[key]) {
			tree_remove(&tree, &items[key].node);
			present[key] = false;
		} else if (step % 3000 < 2000 || shim_random(4) == 0) {
			insert(key);
		}
		if (step % 100 == 0)
			check_all();
	}
	check_all();
	tap_checks("host-tree-01", "random insertions and removals keep order and balance");
}

static void test_ascending(void)
{
	for (unsigned i = 0; i < KEYS; i++) {
		if (present[i])
			tree_remove(&tree, &items[i].node);
		present[i] = false;
	}
	CHECK(!tree.root);
	for (unsigned i = 0; i < KEYS; i++)
		insert(i);
	check_all();
	for (unsigned i = KEYS; i-- > 0;) {
		tree_remove(&tree, &items[i].node);
		present[i] = false;
		if (i % 50 == 0)
			check_all();
	}
	CHECK(!tree.root);
	tap_checks("host-tree-02", "ascending keys stay balanced; the tree empties to nothing");
}

int main(void)
{
	test_random(shim_run_seed());
	test_ascending();
	return tap_done();
}
