/*
 * The boot archive: the multiboot modules, made by tools/mkarchive. Everything
 * begins on a page, so that programs are mapped as they lie there.
 */
#ifndef ABI_ARCHIVE_H
#define ABI_ARCHIVE_H

#include <stdint.h>

#define ARCHIVE_MAGIC	0x41434b31u	/* "1KCA" in memory */

struct archive_header {		/* at byte 0 */
	uint32_t magic;
	uint32_t entries;
	uint32_t bytes;			/* of the whole archive, page aligned */
	uint32_t reserved;
};

struct archive_entry {		/* entries of these follow the header, sorted by name */
	char	 name[52];		/* absolute path, NUL-ended: "/bin/sh" */
	uint32_t first_byte;		/* page aligned; 0 for a directory */
	uint32_t bytes;
	uint32_t mode;			/* ABI_S_IF* and permissions */
};
_Static_assert(sizeof(struct archive_entry) == 64, "archive format");

#endif
