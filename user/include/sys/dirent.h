/* Reading directories; <dirent.h> includes this. */
#ifndef _SYS_DIRENT_H
#define _SYS_DIRENT_H

#include <sys/types.h>

struct dirent {
	ino_t d_ino;
	char  d_name[64];
};

typedef struct {
	unsigned      next;		/* number of the next entry */
	struct dirent entry;
	char	      path[256];
} DIR;

DIR *opendir(const char *path);
struct dirent *readdir(DIR *dir);
void rewinddir(DIR *dir);
int closedir(DIR *dir);

#endif
