/*
 * Names of the boot archives. All modules are one tree; where two have the same
 * name, the later module's counts.
 */
#ifndef SERVERS_NAMES_H
#define SERVERS_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "kernel/abi/archive.h"

enum { ARCHIVES_MAX = 4, NAME_BYTES = sizeof(((struct archive_entry *)0)->name) };

struct file_name {
	int	 object;		/* handle of the archive; -1: "/" itself */
	uint32_t first_byte, bytes, mode, inode;
};

/* Map and check all modules. -errno if module 0 can't be used. */
int names_init(void);
/* Make the absolute path of `path` seen from directory `cwd`, without ".", ".." and
 * double slashes: out[NAME_BYTES]. -ENOENT for an empty path, -ENAMETOOLONG. */
int path_normalise(char out[NAME_BYTES], const char *cwd, const char *path);
/* Look up a path that path_normalise made. -ENOENT, or -ENOTDIR if a part of it is
 * no directory. */
int name_find(struct file_name *out, const char *path);
/* The n-th name in directory `path`, last part only. Returns its length with NUL,
 * or -ENOENT when there are no more. */
int name_list(char out[NAME_BYTES], const char *path, uint32_t n);

#endif
