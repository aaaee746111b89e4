/*
 * The first program: find /bin/proc in the boot archive, map it, start it. Only proc is
 * loaded by the kernel; proc loads everything else. The archive and the ELF file come
 * from the boot loader, so every figure in them is checked; what is wrong is told in the
 * panic, as nothing can run without proc.
 */
#include "kernel/abi/archive.h"
#include "kernel/abi/errno.h"
#include "kernel/abi/file.h"
#include "kernel/abi/mman.h"
#include "kernel/boot.h"
#include "kernel/elf.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/task.h"
#include "kernel/usercopy.h"
#include "mm/object.h"
#include "mm/vma.h"

#define PROC_PATH "/bin/proc"

enum { STACK_IMAGE_BYTES = 32 };	/* argc 0, argv NULL, envp NULL, and zeros */

/* A program file inside the archive, in the linear map. */
struct image {
	const uint8_t *start;
	uint32_t       bytes;
	uint32_t       first_byte;	/* in the archive */
	struct object *archive;
};

/* Does [start, start + bytes) lie in [0, limit)? */
static bool range_inside(uint32_t start, uint32_t bytes, uint32_t limit)
{
	return start <= limit && bytes <= limit - start;
}

/* ---- The archive ---- */

static const struct archive_header *archive_check(const struct boot_module *m)
{
	const struct archive_header *h = (const void *)(uintptr_t)(m->start + KERNEL_BASE);
	uint32_t room = m->end - m->start;

	if (room < sizeof(*h) || h->magic != ARCHIVE_MAGIC)
		panic("boot: module 0 is no archive");
	if (h->bytes > PAGE_UP(room) || h->bytes < sizeof(*h) ||
	    h->entries > (h->bytes - sizeof(*h)) / sizeof(struct archive_entry))
		panic("boot: the archive says %u bytes, %u entries; the module has %u bytes",
		      h->bytes, h->entries, room);
	return h;
}

/* Find `path`; the entry is checked against the archive's size. */
static struct image archive_find(const struct archive_header *h, const char *path)
{
	const struct archive_entry *e = (const void *)(h + 1);

	for (uint32_t i = 0; i < h->entries; i++, e++) {
		if (strncmp(e->name, path, sizeof(e->name)) != 0)
			continue;
		if (!(e->mode & ABI_S_IFREG) || (e->first_byte & ~PAGE_MASK) ||
		    !range_inside(e->first_byte, e->bytes, h->bytes))
			panic("boot: the archive's entry of %s is bad", path);
		return (struct image){
			.start = (const uint8_t *)h + e->first_byte,
			.bytes = e->bytes,
			.first_byte = e->first_byte,
		};
	}
	panic("boot: no %s in the boot archive", path);
}

/* ---- The ELF file ---- */

static const struct elf_header *elf_check(const struct image *image)
{
	const struct elf_header *h = (const void *)image->start;

	if (image->bytes < sizeof(*h) || memcmp(h->ident, "\177ELF", 4) != 0)
		panic("boot: %s is no ELF file", PROC_PATH);
	if (h->ident[ELF_CLASS] != ELF_CLASS_32 || h->ident[ELF_DATA] != ELF_DATA_LITTLE ||
	    h->ident[ELF_VERSION] != ELF_VERSION_CURRENT || h->type != ELF_TYPE_EXEC ||
	    h->machine != ELF_MACHINE_386)
		panic("boot: %s is not a static i386 program", PROC_PATH);
	if (h->program_bytes != sizeof(struct elf_segment) || (h->program_offset & 3) ||
	    !range_inside(h->program_offset, h->program_count * sizeof(struct elf_segment),
			  image->bytes))
		panic("boot: %s: bad program headers", PROC_PATH);
	return h;
}

/* `floor` is the first address that the segment may use: they rise and share no page. */
static void segment_check(const struct image *image, const struct elf_segment *s,
			  vaddr_t floor)
{
	if (!range_inside(s->offset, s->file_bytes, image->bytes) ||
	    s->memory_bytes < s->file_bytes || s->memory_bytes == 0 ||
	    !user_range_ok(s->address, s->memory_bytes) ||
	    s->address + s->memory_bytes > USER_MMAP_BASE ||
	    ((s->address ^ s->offset) & ~PAGE_MASK) || PAGE_DOWN(s->address) < floor)
		panic("boot: %s: bad segment at %#x", PROC_PATH, s->address);
	if (!(s->flags & ELF_FLAG_WRITE) && s->memory_bytes != s->file_bytes)
		panic("boot: %s: read-only segment at %#x has no contents", PROC_PATH,
		      s->address);
}

static uint32_t segment_prot(const struct elf_segment *s)
{
	return (s->flags & ELF_FLAG_READ ? PROT_READ : 0u) |
	       (s->flags & ELF_FLAG_WRITE ? PROT_WRITE : 0u) |
	       (s->flags & ELF_FLAG_EXEC ? PROT_EXEC : 0u);
}

/* Map one segment: read-only ones as they lie in the archive, others as a copy with
 * zeros behind it. */
static void segment_map(struct mm *mm, const struct image *image,
			const struct elf_segment *s)
{
	vaddr_t start = PAGE_DOWN(s->address), end = PAGE_UP(s->address + s->memory_bytes);
	bool copy = s->flags & ELF_FLAG_WRITE;
	struct map_request r = {
		.addr = start, .bytes = end - start, .prot = segment_prot(s),
		.flags = MAP_PRIVATE | MAP_FIXED | (copy ? MAP_ANONYMOUS : 0),
		.object = copy ? NULL : image->archive,
		.object_page = copy ? 0 : (image->first_byte + s->offset) >> PAGE_SHIFT,
	};
	int64_t err = mm_map(mm, &r);

	if (err >= 0 && copy)
		err = mm_write(mm, s->address, image->archive,
			       image->first_byte + s->offset, s->file_bytes);
	if (err < 0)
		panic("boot: %s: can't map the segment at %#x: error %d", PROC_PATH,
		      s->address, (int)-err);
}

/* Map all segments; returns where the heap begins. */
static vaddr_t image_map(struct mm *mm, const struct image *image)
{
	const struct elf_header *h = elf_check(image);
	const struct elf_segment *s = (const void *)(image->start + h->program_offset);
	vaddr_t floor = USER_START;

	for (unsigned i = 0; i < h->program_count; i++, s++) {
		if (s->type != ELF_SEGMENT_LOAD)
			continue;
		segment_check(image, s, floor);
		segment_map(mm, image, s);
		floor = PAGE_UP(s->address + s->memory_bytes);
	}
	if (!user_range_ok(h->entry, 1) || h->entry >= floor)
		panic("boot: %s: bad entry %#x", PROC_PATH, h->entry);
	return floor;
}

static void stack_map(struct mm *mm)
{
	struct map_request r = {
		.addr = USER_STACK_TOP - PAGE_SIZE, .bytes = PAGE_SIZE,
		.prot = PROT_READ | PROT_WRITE,
		.flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_GROWSDOWN,
	};

	if (mm_map(mm, &r) < 0)
		panic("boot: no memory for the stack of %s", PROC_PATH);
}

/* ---- The task ---- */

static struct task *proc_task(void)
{
	struct task *t = task_alloc(PROC_PID, "proc");

	if (t == NULL)
		panic("boot: no memory for proc");
	t->flags = TASK_SERVER | TASK_PROC;
	if (task_birth_handles(t, HANDLE_RIGHT_CALL | HANDLE_RIGHT_RECEIVE) != OK)
		panic("boot: no memory for the handles of proc");
	return t;
}

void task_start_proc(void)
{
	struct image image;
	struct task *t;
	vaddr_t heap;

	if (boot.module_count == 0)
		panic("boot: no boot archive (multiboot module 0)");
	image = archive_find(archive_check(&boot.modules[0]), PROC_PATH);
	image.archive = object_boot_module(0);
	if (image.archive == NULL)
		panic("boot: module 0 has no memory object");
	t = proc_task();
	t->mm = mm_create();
	if (t->mm == NULL)
		panic("boot: no memory for the address space of proc");
	heap = image_map(t->mm, &image);
	stack_map(t->mm);
	t->mm->heap_start = t->mm->heap_end = heap;
	if (task_launch(t, elf_check(&image)->entry, USER_STACK_TOP - STACK_IMAGE_BYTES) != OK)
		panic("boot: no memory for the thread of proc");
	kobject_drop(&image.archive->kobject);
	printk("boot: proc started, pid %d\n", (int)t->pid);
}
