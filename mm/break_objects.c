/* Breaking object.N, radix.N and slab.1 (kernel/breakage.h). */
#include "kernel/breakage.h"
#include "mm/frame.h"
#include "mm/object.h"
#include "mm/slab.h"
#include "mm/vma.h"

/* A boot module: an object with pages and, as it holds programs, with vmas. */
static struct object *module(void)
{
	return object_boot_module(0);
}

static bool break_index(void)
{
	uint32_t index = 0;
	struct page *p = radix_next(&module()->tree, &index);

	p->index++;
	return true;
}

static bool break_resident(void)
{
	module()->resident++;
	return true;
}

/* A vma on the list believes that it is another object's. */
static bool break_vma_list(void)
{
	struct object *o = module(), *other = object_create(1);

	if (!other || list_empty(&o->vmas))
		return false;
	list_first(&o->vmas, struct vma, object_link)->object = other;
	return true;
}

/* `used` is the first word of a node (mm/radix.c). */
static bool break_radix_used(void)
{
	++*(uint32_t *)module()->tree.root;
	return true;
}

static bool break_radix_height(void)
{
	struct object *o = object_create(1);

	if (o)
		o->tree.height = 1;
	return o;
}

/* Written to after it was freed. */
static bool break_slab(void)
{
	uint32_t *object = kmalloc(64, GFP_KERNEL);

	if (!object)
		return false;
	kfree(object);
	object[3] = 0;
	return true;
}

const struct breakage break_objects[] = {
	{ "object.1", "changed the index of an object's page",	break_index },
	{ "object.2", "raised resident",			break_resident },
	{ "object.3", "gave a listed vma another object",	break_vma_list },
	{ "radix.1",  "raised `used` of a node",		break_radix_used },
	{ "radix.2",  "gave an empty tree a height",		break_radix_height },
	{ "slab.1",   "wrote to a free object",			break_slab },
	{ NULL, NULL, NULL }
};
