/* newlib's, with lstat: there are no symbolic links yet, so it is stat. */
#ifndef _CLOCKHAND_SYS_STAT_H
#define _CLOCKHAND_SYS_STAT_H

#include_next <sys/stat.h>

int lstat(const char *path, struct stat *st);

#endif
