/*
 * Memory objects: pages by index, and the vmas that map them (mm/object.h).
 *
 * A page of an object (PG_OBJECT) is held by its tree with one reference; PTEs and users
 * hold their own. Pages of OBJECT_MEMORY are on the LRU lists from birth, and reclaim may
 * put swap entries in their places (mm/object_swap.c). Vmas enter and leave o->vmas in
 * mm/vma.c, with their bounds' locks.
 */
#include "kernel/abi/errno.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "kernel/usercopy.h"
#include "mm/audit.h"
#include "mm/lru.h"
#include "mm/object_tree.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/vma.h"

/* So often an insertion is tried again after sleeping for tree nodes. */
enum { INSERT_TRIES = 8 };

SLAB_CACHE(object_cache, "object", struct object);

struct list objects_all = LIST_INIT(objects_all);
static uint32_t frames;				/* in all objects */
static struct object *boot_modules[BOOT_MODULES_MAX];
static unsigned boot_module_count;

/* ---- Life ---- */

void object_page_enters(struct object *o, uint32_t index, struct page *p)
{
	p->mapping = o;
	p->index = index;
	page_set(p, PG_OBJECT | PG_UPTODATE);
	o->resident++;
	frames++;
}

void object_page_leaves(struct object *o, struct page *p)
{
	page_clear(p, PG_OBJECT);
	p->mapping = NULL;
	p->index = 0;
	o->resident--;
	frames--;
	page_drop(p);
}

/* The last reference is gone, so no vma maps it. Slots are freed without reading them.
 * Never allocates, never sleeps. */
static void object_destroy(struct kobject *k)
{
	struct object *o = container_of(k, struct object, kobject);
	uint32_t index = 0;
	void *word;

	KASSERT2(list_empty(&o->vmas), "object.3", o->page_count, o->resident);
	while ((word = radix_next(&o->tree, &index)) != NULL) {
		radix_remove(&o->tree, index);
		if (word_is_entry(word)) {
			o->swapped--;
			swap_free(word_entry(word));
		} else {
			object_page_leaves(o, word);
		}
	}
	KASSERT2(o->resident == 0 && o->swapped == 0, "object.2", o->resident, o->swapped);
	radix_destroy(&o->tree);
	list_remove(&o->link);
	commit_release(NULL, o->committed);
	slab_free(&object_cache, o);
}

static const struct kobject_ops object_ops = {
	.name = "object",
	.destroy = object_destroy,
};

/* An object of `bytes` without pages. NULL without memory. Sleeps. */
static struct object *object_make(enum object_kind kind, uint32_t page_total, uint32_t bytes)
{
	struct object *o = slab_alloc(&object_cache, GFP_KERNEL | GFP_NOFAIL_SMALL | GFP_ZERO);

	if (!o)
		return NULL;
	kobject_init(&o->kobject, KOBJECT_OBJECT, &object_ops);
	o->kind = (uint8_t)kind;
	spin_init(&o->lock, RANK_OBJECT);
	o->page_count = page_total;
	o->bytes = bytes;
	list_init(&o->vmas);
	list_insert_tail(&objects_all, &o->link);
	return o;
}

/* Memory of `page_total` pages, `promise` of which are charged. */
static struct object *create_memory(uint32_t page_total, uint32_t promise)
{
	struct object *o;

	if (page_total == 0 || page_total > UINT32_MAX >> PAGE_SHIFT ||
	    commit_ask(NULL, promise))
		return NULL;
	o = object_make(OBJECT_MEMORY, page_total, page_total << PAGE_SHIFT);
	if (o)
		o->committed = promise;
	else
		commit_release(NULL, promise);
	return o;
}

/* Memory of `page_total` pages, made on demand and zeroed; one reference. NULL without
 * memory, if it can't be promised, or for 0 pages or more than can be addressed. Sleeps. */
struct object *object_create(uint32_t page_total)
{
	return create_memory(page_total, page_total);
}

/* The same without a promise, where the rule allows that. */
struct object *object_create_noreserve(uint32_t page_total)
{
	return create_memory(page_total, commit_may_skip() ? 0 : page_total);
}

/* ---- Pages ---- */

/* Enter `p`, whose reference the object takes over. -ENOMEM: tree nodes are missing;
 * -EEXIST: there is a page, or an entry, by now. Never sleeps. */
static int insert_page(struct object *o, uint32_t index, struct page *p)
{
	int error = -EEXIST;

	spin_lock(&o->lock);
	if (!radix_find(&o->tree, index))
		error = radix_insert(&o->tree, index, p);
	if (!error)
		object_page_enters(o, index, p);
	spin_unlock(&o->lock);
	return error;
}

/* As insert_page(), but sleeps for the tree's nodes. */
static int insert_page_wait(struct object *o, uint32_t index, struct page *p)
{
	int error = insert_page(o, index, p);

	for (unsigned i = 0; i < INSERT_TRIES && error == -ENOMEM; i++) {
		if (radix_reserve() < 0)
			break;
		error = insert_page(o, index, p);
	}
	return error;
}

/* The first touch: a zeroed page enters the tree and the LRU lists. OK also if somebody was
 * faster. -ENOMEM. Sleeps. */
static int make_page(struct object *o, uint32_t index)
{
	struct page *p = page_alloc(GFP_USER | GFP_ZERO, 0);
	int error;

	if (!p)
		return -ENOMEM;
	error = insert_page_wait(o, index, p);
	if (!error)
		lru_insert(p, lru_rules.object);
	else
		page_drop(p);
	return error == -EEXIST ? OK : error;
}

/* The word at `index`; if it is a page, with a reference. */
static void *look_up(struct object *o, uint32_t index)
{
	void *word;

	spin_lock(&o->lock);
	word = radix_find(&o->tree, index);
	if (word && !word_is_entry(word))
		page_hold(word);
	spin_unlock(&o->lock);
	return word;
}

/*
 * The page at `index`, with a reference for the caller; zeroed memory if it is the first
 * touch, from swap if it is there, and then *major may be set. Returns NULL and *error: -EFAULT
 * beyond the end, -ENOMEM, -EIO. No spinlock and no page lock held. Sleeps. Each turn of the
 * loop either ends it or has slept, and what was missing is found right after.
 */
struct page *object_fault_page(struct object *o, uint32_t index, bool *major, int *error)
{
	*error = index < o->page_count ? OK : -EFAULT;
	while (!*error) {
		void *word = look_up(o, index);

		if (!word) {
			*error = make_page(o, index);
		} else if (word_is_entry(word)) {
			*error = object_swap_in(o, index, word_entry(word), major);
		} else {
			if (o->kind == OBJECT_MEMORY)
				lru_mark_accessed(word);
			return word;
		}
	}
	return NULL;
}

/* The same for whoever doesn't count faults. */
struct page *object_get_page(struct object *o, uint32_t index, int *error)
{
	bool major;

	return object_fault_page(o, index, &major, error);
}

/* Is the page at `index` in memory? */
bool object_page_resident(struct object *o, uint32_t index)
{
	void *word;

	spin_lock(&o->lock);
	word = radix_find(&o->tree, index);
	spin_unlock(&o->lock);
	return word && !word_is_entry(word);
}

/* Is the page at `index` in swap? Then *e is its slot. */
bool object_page_swapped(struct object *o, uint32_t index, swap_entry *e)
{
	void *word;

	spin_lock(&o->lock);
	word = radix_find(&o->tree, index);
	spin_unlock(&o->lock);
	if (!word || !word_is_entry(word))
		return false;
	*e = word_entry(word);
	return true;
}

/*
 * An object over the frames of a boot module: [first, first + bytes), reserved so far. They
 * are the object's from now on. What lies behind its last byte is zeroed. NULL without
 * memory. At boot.
 */
struct object *object_from_frames(pfn_t first, uint32_t bytes)
{
	uint32_t total = PAGE_UP(bytes) >> PAGE_SHIFT;
	struct object *o = object_make(OBJECT_BOOT, total, bytes);

	if (!o)
		return NULL;
	for (uint32_t i = 0; i < total; i++) {
		struct page *p = pfn_page(first + i);

		frame_unreserve(p);
		if (insert_page(o, i, p) < 0) {
			kobject_drop(&o->kobject);
			return NULL;
		}
	}
	if (bytes & ~PAGE_MASK)
		memset((char *)paddr_address(first << PAGE_SHIFT) + bytes, 0,
		       PAGE_SIZE - (bytes & ~PAGE_MASK));
	return o;
}

/* ---- Copies ---- */

/* What is left of a copy of `bytes` at `offset`: as far as the object goes, or -EINVAL. */
static int clip(const struct object *o, uint32_t offset, size_t bytes)
{
	if (offset > o->bytes)
		return -EINVAL;
	return (int)MIN(MIN(bytes, o->bytes - offset), (size_t)INT32_MAX);
}

enum direction { FROM_OBJECT, TO_OBJECT };

/* The copy itself, page by page, without a lock: the user's side may fault and sleep. */
static int copy_pages(struct object *o, uint32_t offset, vaddr_t user, int bytes,
		      enum direction direction)
{
	uint32_t done = 0;

	while (done < (uint32_t)bytes) {
		uint32_t in_page = (offset + done) & ~PAGE_MASK;
		uint32_t n = MIN((uint32_t)bytes - done, PAGE_SIZE - in_page);
		int error;
		struct page *p = object_get_page(o, (offset + done) >> PAGE_SHIFT, &error);

		if (!p)
			return error;
		if (direction == TO_OBJECT)
			error = copy_from_user((char *)page_address(p) + in_page, user + done, n);
		else
			error = copy_to_user(user + done, (char *)page_address(p) + in_page, n);
		page_drop(p);
		if (error)
			return error;
		done += n;
		if (current->killed)
			return -EINTR;
		cond_resched();
	}
	return bytes;
}

/* Copy from the object to user memory; see mm/object.h. Sleeps. */
int object_read(struct object *o, uint32_t offset, vaddr_t to, size_t bytes)
{
	int n = clip(o, offset, bytes);

	return n <= 0 ? n : copy_pages(o, offset, to, n, FROM_OBJECT);
}

/* Copy from user memory into the object; see mm/object.h. Sleeps. */
int object_write(struct object *o, uint32_t offset, vaddr_t from, size_t bytes)
{
	int n = o->kind == OBJECT_BOOT ? -EINVAL : clip(o, offset, bytes);

	return n <= 0 ? n : copy_pages(o, offset, from, n, TO_OBJECT);
}

/* ---- Boot modules ---- */

/* The n-th boot module with a reference, or NULL. */
struct object *object_boot_module(unsigned n)
{
	if (n >= boot_module_count)
		return NULL;
	kobject_hold(&boot_modules[n]->kobject);
	return boot_modules[n];
}

/* `o` is the next boot module; takes over the reference. At boot. */
void object_add_boot_module(struct object *o)
{
	KASSERT2(boot_module_count < BOOT_MODULES_MAX, "object: boot modules",
		 boot_module_count, 0);
	boot_modules[boot_module_count++] = o;
}

/* ---- Figures and checks ---- */

/* Frames that all objects hold. */
uint32_t objects_frames(void)
{
	return frames;
}

/* ... but for the boot modules, which are there whatever the programs do. */
uint32_t objects_memory_frames(void)
{
	uint32_t sum = frames;

	for (unsigned i = 0; i < boot_module_count; i++)
		sum -= boot_modules[i]->page_count;
	return sum;
}

/* ... and that they have in swap. */
uint32_t objects_swapped(void)
{
	uint32_t sum = 0;
	struct object *o;

	list_for_each(o, &objects_all, link)
		sum += o->swapped;
	return sum;
}

/* object.1 of one word. */
static unsigned check_word(const struct object *o, uint32_t index, void *word)
{
	const struct page *p = word;

	if (word_is_entry(word)) {
		if (index < o->page_count && swap_count(word_entry(word)) > 0)
			return 0;
		return audit_violation("object.1", "tree[i] is the entry of a slot in use: i %u, "
			"entry %#x", index, word_entry(word).v);
	}
	if (page_is(p, PG_OBJECT) && p->mapping == o && p->index == index &&
	    index < o->page_count && p->count >= p->mapcount + 1)
		return 0;
	return audit_violation("object.1", "tree[i] is a page of this object: i %u, pfn %#x, "
		"flags %#x, index %u, count %u", index, page_pfn(p), p->flags, p->index, p->count);
}

/* object.1 and object.2 of one object. */
static unsigned check_pages(const struct object *o)
{
	uint32_t index = 0, resident = 0, swapped = 0;
	unsigned bad = 0;
	void *word;

	for (; (word = radix_next(&o->tree, &index)) != NULL; index++) {
		bad += check_word(o, index, word);
		if (word_is_entry(word))
			swapped++;
		else
			resident++;
	}
	if (resident != o->resident || swapped != o->swapped)
		bad += audit_violation("object.2", "resident and swapped count the tree's words: "
			"%u and %u, found %u and %u", o->resident, o->swapped, resident, swapped);
	return bad;
}

/* Check object.1 to object.3 (as far as the vmas listed go: mm_check() has the other
 * direction). Prints each violation, returns how many. */
unsigned object_check(void)
{
	uint32_t all = 0;
	unsigned bad = 0;
	struct object *o;
	struct vma *v;

	list_for_each(o, &objects_all, link) {
		if (radix_check(&o->tree)) {
			bad++;		/* no walk through a broken tree */
			continue;
		}
		bad += check_pages(o);
		all += o->resident;
		list_for_each(v, &o->vmas, object_link) {
			if (v->object != o)
				bad += audit_violation("object.3", "vmas lists the vmas whose "
					"object is this one: %#x-%#x", v->start, v->end);
		}
	}
	if (all != frames)
		bad += audit_violation("object.2", "pages of all objects: %u, found %u", frames,
				       all);
	return bad;
}
