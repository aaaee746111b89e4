/* Names of the boot archives: see names.h. The archives are mapped read-only; what
 * they say is checked once, at the start, and relied on afterwards. */
#include <string.h>
#include <clockhand.h>
#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
#include "user/servers/names.h"

struct archive {
	int object;
	const struct archive_header *header;
	const struct archive_entry *entries;
};

static struct archive archives[ARCHIVES_MAX];
static unsigned archive_count;

static int entry_ok(const struct archive_entry *e, uint32_t archive_bytes)
{
	if (e->name[0] != '/' || e->name[1] == '\0' || !memchr(e->name, '\0', NAME_BYTES))
		return 0;
	if ((e->mode & ABI_S_IFDIR) == ABI_S_IFDIR)
		return e->first_byte == 0 && e->bytes == 0;
	return (e->mode & ABI_S_IFREG) == ABI_S_IFREG &&
		e->first_byte % CLOCKHAND_PAGE == 0 && e->first_byte <= archive_bytes &&
		e->bytes <= archive_bytes - e->first_byte;
}

static int archive_ok(const struct archive *a, uint32_t object_bytes)
{
	const struct archive_header *h = a->header;

	if (h->magic != ARCHIVE_MAGIC || h->bytes > object_bytes || h->bytes < sizeof(*h) ||
	    h->entries > (h->bytes - sizeof(*h)) / sizeof(*a->entries))
		return 0;
	for (uint32_t i = 0; i < h->entries; i++) {
		if (!entry_ok(&a->entries[i], h->bytes))
			return 0;
		if (i > 0 && strcmp(a->entries[i - 1].name, a->entries[i].name) >= 0)
			return 0;
	}
	return 1;
}

static int archive_map(struct archive *a, unsigned n)
{
	int bytes, address;

	a->object = sys_archive(n);
	if (a->object < 0)
		return a->object;
	bytes = sys_object_size(a->object);
	if (bytes < (int)sizeof(*a->header))
		return bytes < 0 ? bytes : -EINVAL;
	address = sys_mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, a->object, 0);
	if (sys_failed(address))
		return address;
	a->header = (const struct archive_header *)address;
	a->entries = (const struct archive_entry *)(a->header + 1);
	return archive_ok(a, (uint32_t)bytes) ? OK : -EINVAL;
}

int names_init(void)
{
	static const char bad[] = "a boot module is no archive; ignored";
	int first = OK;

	for (unsigned n = 0; n < ARCHIVES_MAX; n++) {
		int error = archive_map(&archives[archive_count], n);

		if (error == OK)
			archive_count++;
		else if (archives[archive_count].object >= 0)
			sys_log(bad, sizeof(bad) - 1);
		if (n == 0)
			first = error;
	}
	return first;
}

/* Take the last part off `path`, which begins with '/'. The root stays. */
static void path_pop(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path] = '\0';
}

static int path_push(char path[NAME_BYTES], const char *part, size_t length)
{
	size_t have = strlen(path);
	int slash = have > 1;

	if (have + (size_t)slash + length + 1 > NAME_BYTES)
		return -ENAMETOOLONG;
	if (slash)
		path[have++] = '/';
	memcpy(path + have, part, length);
	path[have + length] = '\0';
	return OK;
}

int path_normalise(char out[NAME_BYTES], const char *cwd, const char *path)
{
	if (*path == '\0')
		return -ENOENT;
	strcpy(out, *path == '/' ? "/" : cwd);
	while (*path) {
		size_t length = strcspn(path, "/");
		int error = OK;

		if (length == 2 && path[0] == '.' && path[1] == '.')
			path_pop(out);
		else if (length > 0 && !(length == 1 && path[0] == '.'))
			error = path_push(out, path, length);
		if (error != OK)
			return error;
		path += length + (path[length] == '/');
	}
	return OK;
}

/* Index of `path` in archive `a`, or -1. Entries are sorted by name. */
static int entry_search(const struct archive *a, const char *path)
{
	int low = 0, high = (int)a->header->entries - 1;

	while (low <= high) {
		int middle = low + (high - low) / 2;
		int order = strcmp(path, a->entries[middle].name);

		if (order == 0)
			return middle;
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return -1;
}

static int name_find_exact(struct file_name *out, const char *path)
{
	for (unsigned n = archive_count; n-- > 0; ) {
		int i = entry_search(&archives[n], path);
		const struct archive_entry *e = &archives[n].entries[i];

		if (i < 0)
			continue;
		out->object = archives[n].object;
		out->first_byte = e->first_byte;
		out->bytes = e->bytes;
		out->mode = e->mode;
		out->inode = n << 16 | (uint32_t)(i + 2);
		return OK;
	}
	return -ENOENT;
}

int name_find(struct file_name *out, const char *path)
{
	char up[NAME_BYTES];

	if (strcmp(path, "/") == 0) {
		*out = (struct file_name){ .object = -1, .mode = ABI_S_IFDIR | 0755, .inode = 1 };
		return OK;
	}
	if (name_find_exact(out, path) == OK)
		return OK;
	strcpy(up, path);
	for (path_pop(up); up[1] != '\0'; path_pop(up))
		if (name_find_exact(out, up) == OK && !(out->mode & ABI_S_IFDIR))
			return -ENOTDIR;
	return -ENOENT;
}

/* The last part of `name` if it lies directly in directory `path`; else NULL. */
static const char *name_in(const char *name, const char *path)
{
	size_t length = strlen(path);

	if (strncmp(name, path, length) != 0)
		return NULL;
	if (length > 1 && name[length++] != '/')
		return NULL;
	return strchr(name + length, '/') ? NULL : name + length;
}

static int hidden_by_later(unsigned n, const char *name)
{
	while (++n < archive_count)
		if (entry_search(&archives[n], name) >= 0)
			return 1;
	return 0;
}

int name_list(char out[NAME_BYTES], const char *path, uint32_t n)
{
	for (unsigned a = 0; a < archive_count; a++) {
		for (uint32_t i = 0; i < archives[a].header->entries; i++) {
			const char *name = archives[a].entries[i].name;
			const char *last = name_in(name, path);

			if (!last || hidden_by_later(a, name) || n-- > 0)
				continue;
			strcpy(out, last);
			return (int)strlen(out) + 1;
		}
	}
	return -ENOENT;
}
