/*
 * Pages of memory objects go to swap and come back. There are two moments: object_swap_out()
 * turns a page of the tree into an entry of the tree, and object_swap_in() does the reverse.
 * In between, the page (if it is in memory at all) is a page of the swap cache like any
 * other, which reclaim writes and frees without knowing whose it is.
 *
 *            tree[i]   page in memory     slot's count    what an asker does
 *  NONE      -         -                  -               makes a zeroed page
 *  RESIDENT  page      PG_OBJECT          -               takes it
 *  LEAVING   entry     swap cache, dirty  2 (tree, cache) takes its lock, brings it back
 *  WRITING   entry     ... PG_WRITEBACK   2               takes its lock, waits for the write
 *  WRITTEN   entry     ... clean          2               takes its lock, brings it back
 *  ON_DISK   entry     -                  1 (tree)        reads it, with its neighbours
 *  READING   entry     swap cache, locked 2               waits for its lock
 *  FAILED    entry     ... not uptodate   2               gets -EIO
 *
 *  NONE -> RESIDENT <-> LEAVING -> WRITING -> WRITTEN -> ON_DISK -> READING -> WRITTEN
 *              ^------ object_swap_in(): from LEAVING, WRITTEN (and so from all others)
 *
 * Who may meet whom:
 *  - An asker who has found a RESIDENT page holds it, and reclaim leaves held pages alone. From
 *    the check of the count to the entry in the tree reclaim doesn't sleep, so nobody finds
 *    the page in between.
 *  - An asker who has found an entry may sleep three times: for memory, for the page lock,
 *    for the end of a write. He holds no spinlock and no other page's lock, perhaps an
 *    mmap_lock. The page lock is held by the disk's read, by reclaim until its batch is handed
 *    to the disk, or by another asker; none of them waits for memory or for an mmap_lock while
 *    he has it.
 *  - Of two askers the second finds the page out of the cache when he gets the lock. He looks
 *    at the tree again. So does he whose entry was changed meanwhile by swap_relocate(), and
 *    he whose slot was freed and perhaps given to somebody else: page and slot belong
 *    together as long as the page is locked and `private` says so, and the tree says whether
 *    they are still his.
 *  - An object can't go while somebody asks: he has a reference. When it goes, its slots are
 *    freed; a page that is busy then stays in the cache, where reclaim finds it ownerless.
 *
 * Locks: o->lock for the words. Replacing a word needs no node of the tree, so nothing
 * is allocated under it, nor under a page lock.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "mm/object_tree.h"
#include "mm/swap.h"

enum { UNUSE_ROUNDS = 4096 };		/* of objects_unuse(): while new entries arise */

/* ---- Out ---- */

/*
 * Reclaim wants `p`, locked, unmapped and held once by the caller, a page of an object: it enters
 * the swap cache, and the tree has the swap entry in its place, which is one count of the slot.
 * Returns false, and nothing has changed, if others hold the page, the object is a boot
 * module, or there is no slot. Takes the object's lock and swap_lock; never sleeps.
 */
bool object_swap_out(struct page *p)
{
	struct object *o = p->mapping;
	swap_entry e;
	void *old;
	int error;

	KASSERT2(page_is(p, PG_LOCKED) && page_is(p, PG_OBJECT), "object.1", page_pfn(p), p->flags);
	if (p->count != 2 || o->kind != OBJECT_MEMORY || !swap_cache_add_new(p))
		return false;
	e.v = p->private;
	error = swap_dup(e);		/* the tree's */
	KASSERT2(!error, "swap.3", e.v, error);
	spin_lock(&o->lock);
	old = radix_replace(&o->tree, p->index, word_of_entry(e));
	KASSERT2(old == p, "object.1", page_pfn(p), p->index);
	o->swapped++;
	object_page_leaves(o, p);
	spin_unlock(&o->lock);
	return true;
}

/* ---- In ---- */

/* Is `e` still what the tree has at `index`? */
static bool entry_there(struct object *o, uint32_t index, swap_entry e)
{
	bool there;

	spin_lock(&o->lock);
	there = radix_find(&o->tree, index) == word_of_entry(e);
	spin_unlock(&o->lock);
	return there;
}

/*
 * The page `p` of `e`, locked, goes back into the tree, if the entry is still there, and its
 * slot is freed. The tree's count of the slot goes before the cache's, so that a slot which
 * couldn't be written is found to be nobody's and retired.
 */
static void enter_tree(struct object *o, uint32_t index, swap_entry e, struct page *p)
{
	bool there;

	spin_lock(&o->lock);
	there = radix_find(&o->tree, index) == word_of_entry(e);
	if (there) {
		radix_replace(&o->tree, index, p);
		page_hold(p);
		o->swapped--;
		object_page_enters(o, index, p);
	}
	spin_unlock(&o->lock);
	if (!there)
		return;
	swap_free(e);
	swap_cache_delete(p);
}

/* The contents of `e` couldn't be read. Who needs them is told, nobody else. */
static int read_failed(struct object *o, uint32_t index, swap_entry e)
{
	const struct task *t = current_task();

	if (!entry_there(o, index, e))
		return OK;
	printk("swap: slot %u of area %u can't be read: pid %d misses page %u of an object\n",
	       swap_entry_slot(e), swap_entry_area(e), t ? t->pid : 0, index);
	return -EIO;
}

/* See object.h. */
int object_swap_in(struct object *o, uint32_t index, swap_entry e, bool *major)
{
	struct page *p = swap_read(e, NULL, 0, major);
	int error = OK;

	if (!p)
		return entry_there(o, index, e) ? -ENOMEM : OK;
	page_lock(p);
	page_wait_writeback(p);
	if (page_is(p, PG_SWAPCACHE) && p->private == e.v) {
		if (page_is(p, PG_UPTODATE))
			enter_tree(o, index, e, p);
		else
			error = read_failed(o, index, e);
	}
	page_unlock(p);
	page_drop(p);
	return error;
}

/* ---- For swapoff, relocation, the audit and the OOM killer ---- */

/* See object.h. */
swap_entry object_next_entry(struct object *o, unsigned area, uint32_t *index)
{
	swap_entry e = { 0 };
	void *word;

	spin_lock(&o->lock);
	for (; (word = radix_next(&o->tree, index)) != NULL; ++*index) {
		if (word_is_entry(word) && (area == SWAP_AREAS_MAX ||
					    swap_entry_area(word_entry(word)) == area)) {
			e = word_entry(word);
			break;
		}
	}
	spin_unlock(&o->lock);
	return e;
}

/* See object.h. */
void objects_for_each_entry(swap_entry (*fn)(swap_entry e, void *arg), void *arg)
{
	struct object *o;

	list_for_each(o, &objects_all, link) {
		swap_entry e, now;

		for (uint32_t i = 0; o->swapped > 0 &&
				     (e = object_next_entry(o, SWAP_AREAS_MAX, &i)).v != 0; i++) {
			now = fn(e, arg);
			if (now.v == e.v)
				continue;
			spin_lock(&o->lock);
			radix_replace(&o->tree, i, word_of_entry(now));
			spin_unlock(&o->lock);
		}
	}
}

/* See object.h. */
uint32_t object_swapped_within(struct object *o, uint32_t first, uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t i = first; o->swapped > 0 && object_next_entry(o, SWAP_AREAS_MAX, &i).v != 0 &&
				 i - first < count; i++)
		found++;
	return found;
}

/* The first object that names a slot of `area`, with a reference; NULL: none. */
static struct object *object_that_uses(unsigned area)
{
	struct object *o;

	list_for_each(o, &objects_all, link) {
		uint32_t index = 0;

		if (o->swapped > 0 && object_next_entry(o, area, &index).v != 0) {
			kobject_hold(&o->kobject);
			return o;
		}
	}
	return NULL;
}

/* Bring back what one object has in `area`. */
static int unuse_object(struct object *o, unsigned area)
{
	swap_entry e;
	bool major;
	int error;

	for (uint32_t i = 0; (e = object_next_entry(o, area, &i)).v != 0; i++) {
		if (current->killed)
			return -EINTR;
		if (swap_off_called_off(area))
			return -ENOMEM;
		error = object_swap_in(o, i, e, &major);
		if (error)
			return error;
		cond_resched();
	}
	return OK;
}

/* See object.h. An area that gives no slots is empty when each object had its turn, but for
 * entries that object_swap_in() found changed; those are met in a further round. */
int objects_unuse(unsigned area)
{
	unsigned rounds = 0;
	struct object *o;
	int error = OK;

	while (!error && (o = object_that_uses(area)) != NULL) {
		error = rounds++ < UNUSE_ROUNDS ? unuse_object(o, area) : -EBUSY;
		kobject_drop(&o->kobject);
	}
	return error;
}
