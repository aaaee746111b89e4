/*
 * Red-black trees, intrusive (Cormen, Leiserson, Rivest, Stein: Introduction to
 * Algorithms, chapter 13, with NULL in place of the sentinel).
 *
 * tree.1  a red node's children are black
 * tree.2  every path from a node down to a NULL has the same number of black nodes
 *
 * The caller searches the place by his own key, then tree_insert() links and balances.
 */
#include "mm/vma.h"

enum { RED, BLACK };

/* `with` (may be NULL) takes the place of `n` below n's parent. */
static void replace(struct tree *t, struct tree_node *n, struct tree_node *with)
{
	if (!n->parent)
		t->root = with;
	else if (n->parent->left == n)
		n->parent->left = with;
	else
		n->parent->right = with;
	if (with)
		with->parent = n->parent;
}

/* `n`'s right child comes up in its place. */
static void rotate_left(struct tree *t, struct tree_node *n)
{
	struct tree_node *up = n->right;

	n->right = up->left;
	if (up->left)
		up->left->parent = n;
	replace(t, n, up);
	up->left = n;
	n->parent = up;
}

/* `n`'s left child comes up in its place. */
static void rotate_right(struct tree *t, struct tree_node *n)
{
	struct tree_node *up = n->left;

	n->left = up->right;
	if (up->right)
		up->right->parent = n;
	replace(t, n, up);
	up->right = n;
	n->parent = up;
}

static bool is_red(const struct tree_node *n)
{
	return n && n->colour == RED;
}

/* `n` and its parent are red: recolour upwards or rotate once or twice (tree.1). */
static void repair_red(struct tree *t, struct tree_node *n)
{
	while (is_red(n->parent)) {
		struct tree_node *up = n->parent, *top = up->parent;
		bool left = up == top->left;
		struct tree_node *uncle = left ? top->right : top->left;

		if (is_red(uncle)) {
			up->colour = uncle->colour = BLACK;
			top->colour = RED;
			n = top;
			continue;
		}
		if (n == (left ? up->right : up->left)) {
			if (left)
				rotate_left(t, up);
			else
				rotate_right(t, up);
			up = n;
		}
		up->colour = BLACK;
		top->colour = RED;
		if (left)
			rotate_right(t, top);
		else
			rotate_left(t, top);
		break;
	}
	t->root->colour = BLACK;
}

/*
 * Link `n`, red, below `parent` (NULL: the tree is empty), on its left side or right, where
 * there is nothing, and balance (tree.1, tree.2; CLRS 13.3). The lock of what the tree lists
 * is held by the caller; never sleeps.
 */
void tree_insert(struct tree *t, struct tree_node *n, struct tree_node *parent, bool left)
{
	n->left = n->right = NULL;
	n->parent = parent;
	n->colour = RED;
	if (!parent)
		t->root = n;
	else if (left)
		parent->left = n;
	else
		parent->right = n;
	repair_red(t, n);
}

/* The case of CLRS 13.4 where `n`'s sibling is black and has a red child: repairs for good. */
static void repair_by_nephew(struct tree *t, struct tree_node *up, struct tree_node *sibling,
			     bool left)
{
	struct tree_node *far = left ? sibling->right : sibling->left;

	if (!is_red(far)) {
		struct tree_node *near = left ? sibling->left : sibling->right;

		near->colour = BLACK;
		sibling->colour = RED;
		if (left)
			rotate_right(t, sibling);
		else
			rotate_left(t, sibling);
		far = sibling;
		sibling = near;
	}
	sibling->colour = up->colour;
	up->colour = BLACK;
	far->colour = BLACK;
	if (left)
		rotate_left(t, up);
	else
		rotate_right(t, up);
}

/* Paths through `n` (may be NULL), below `up`, have one black node too few (tree.2). */
static void repair_black(struct tree *t, struct tree_node *n, struct tree_node *up)
{
	while (n != t->root && !is_red(n)) {
		bool left = n == up->left;
		struct tree_node *sibling = left ? up->right : up->left;

		if (is_red(sibling)) {
			sibling->colour = BLACK;
			up->colour = RED;
			if (left)
				rotate_left(t, up);
			else
				rotate_right(t, up);
			sibling = left ? up->right : up->left;
		}
		if (is_red(sibling->left) || is_red(sibling->right)) {
			repair_by_nephew(t, up, sibling, left);
			return;
		}
		sibling->colour = RED;
		n = up;
		up = n->parent;
	}
	if (n)
		n->colour = BLACK;
}

/*
 * Unlink `n`. If it has two children, its successor takes its place and colour; if a black
 * node went, what is left is balanced (tree.1, tree.2; CLRS 13.4). No other node moves in
 * memory. The lock of what the tree lists is held by the caller; never sleeps.
 */
void tree_remove(struct tree *t, struct tree_node *n)
{
	struct tree_node *child, *up, *next;
	uint32_t removed = n->colour;

	if (!n->left || !n->right) {
		child = n->left ? n->left : n->right;
		up = n->parent;
		replace(t, n, child);
	} else {
		for (next = n->right; next->left; next = next->left)
			;
		removed = next->colour;
		child = next->right;
		up = next;
		if (next->parent != n) {
			up = next->parent;
			replace(t, next, child);
			next->right = n->right;
			next->right->parent = next;
		}
		replace(t, n, next);
		next->left = n->left;
		next->left->parent = next;
		next->colour = n->colour;
	}
	if (removed == BLACK)
		repair_black(t, child, up);
}
