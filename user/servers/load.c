/* Building address spaces for programs: text is mapped from the boot archive where
 * it lies, data are copied, the stack's image is copied below USER_STACK_TOP. */
#include <string.h>
#include <clockhand.h>
#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
#include "user/libc/stack_image.h"
#include "user/servers/elf.h"
#include "user/servers/load.h"

#define PAGE_DOWN(a)	((a) & ~(CLOCKHAND_PAGE - 1))
#define PAGE_UP(a)	PAGE_DOWN((a) + CLOCKHAND_PAGE - 1)

/* Read the program's headers (they lie in its first page) and check them. */
static int headers_read(struct elf_program *program, const struct file_name *file)
{
	static uint32_t page[CLOCKHAND_PAGE / 4];	/* aligned for the headers */
	uint32_t have = file->bytes < sizeof(page) ? file->bytes : sizeof(page);
	int n = sys_object_read(file->object, file->first_byte, page, have);

	if (n < 0)
		return n;
	return elf_check(program, page, have, file->bytes);
}

static int segment_copy(int space, const struct elf_segment *s, const struct file_name *file)
{
	for (uint32_t done = 0; done < s->file_bytes; ) {
		uint32_t left = s->file_bytes - done;
		struct abi_space_write w = {
			.address = s->address + done, .object = file->object,
			.object_byte = file->first_byte + s->offset + done,
			.bytes = left < SPACE_WRITE_MAX ? left : SPACE_WRITE_MAX,
		};
		int error = sys_space_write(space, &w);

		if (error < 0)
			return error;
		done += w.bytes;
	}
	return OK;
}

static int segment_load(int space, const struct elf_segment *s, const struct file_name *file)
{
	int writable = (s->prot & PROT_WRITE) != 0;
	struct abi_space_map map = {
		.address = PAGE_DOWN(s->address),
		.bytes = PAGE_UP(s->address + s->bytes) - PAGE_DOWN(s->address),
		.prot = s->prot,
		.flags = writable ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE,
		.object = writable ? -1 : file->object,
		.object_page = writable ? 0
			: (file->first_byte + s->offset) / CLOCKHAND_PAGE,
	};
	int error = sys_space_map(space, &map);

	return error < 0 || !writable ? error : segment_copy(space, s, file);
}

static int stack_load(int space, int image, uint32_t bytes)
{
	struct abi_space_map map = {
		.address = STACK_IMAGE_TOP - PAGE_UP(bytes), .bytes = PAGE_UP(bytes),
		.prot = PROT_READ | PROT_WRITE,
		.flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, .object = -1,
	};
	struct abi_space_write w = {
		.address = STACK_IMAGE_TOP - bytes, .object = image, .bytes = bytes,
	};
	int error = sys_space_map(space, &map);

	return error < 0 ? error : sys_space_write(space, &w);
}

int program_load(struct abi_exec *exec, const struct file_name *file, int image,
		 uint32_t image_bytes)
{
	struct elf_program program;
	int error, size = sys_object_size(image);

	if (size < 0)
		return size;
	if (image_bytes < 16 || image_bytes % 16 != 0 || image_bytes > (uint32_t)size)
		return -EINVAL;
	if (image_bytes > STACK_IMAGE_MAX)
		return -E2BIG;
	error = headers_read(&program, file);
	if (error != OK)
		return error;
	exec->space = sys_space_create();
	if (exec->space < 0)
		return exec->space;
	for (unsigned i = 0; i < program.count && error >= 0; i++)
		error = segment_load(exec->space, &program.segments[i], file);
	if (error >= 0)
		error = stack_load(exec->space, image, image_bytes);
	if (error < 0) {
		sys_handle_close(exec->space);
		return error;
	}
	exec->entry = program.entry;
	exec->stack = STACK_IMAGE_TOP - image_bytes;
	exec->heap = program.end;
	return OK;
}
