/* Reading directories: proc gives the n-th name. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <clockhand.h>
#include <user/servers/proc.h>

DIR *opendir(const char *path)
{
	struct stat st;
	DIR *dir;

	if (stat(path, &st) < 0)
		return NULL;
	if (!S_ISDIR(st.st_mode) || strlen(path) >= sizeof(dir->path)) {
		errno = S_ISDIR(st.st_mode) ? ENAMETOOLONG : ENOTDIR;
		return NULL;
	}
	dir = malloc(sizeof(*dir));
	if (dir) {
		dir->next = 0;
		strcpy(dir->path, path);
	}
	return dir;
}

struct dirent *readdir(DIR *dir)
{
	struct ipc_message m = { .label = PROC_READDIR, .word = { dir->next } };
	int error = proc_call_path(&m, dir->path, dir->entry.d_name,
				   sizeof(dir->entry.d_name));

	if (error < 0) {
		if (error != -ENOENT)
			errno = -error;
		return NULL;
	}
	dir->entry.d_ino = (ino_t)++dir->next;
	return &dir->entry;
}

void rewinddir(DIR *dir)
{
	dir->next = 0;
}

int closedir(DIR *dir)
{
	free(dir);
	return 0;
}
