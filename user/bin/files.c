/* Commands about files and text. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "user/bin/box.h"

int box_echo(int argc, char **argv)
{
	int first = argc > 1 && strcmp(argv[1], "-n") == 0 ? 2 : 1;

	for (int i = first; i < argc; i++)
		printf("%s%s", argv[i], i + 1 < argc ? " " : "");
	if (first == 1)
		putchar('\n');
	return 0;
}

int box_pwd(int argc, char **argv)
{
	char path[256];

	(void)argc, (void)argv;
	if (!getcwd(path, sizeof(path)))
		return box_error(".", errno);
	puts(path);
	return 0;
}

/* All of `fd` to standard output. 0 or an errno. */
static int copy_out(int fd)
{
	static char buffer[4096];
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		if (write(STDOUT_FILENO, buffer, (size_t)n) != n)
			return errno;
	return n < 0 ? errno : 0;
}

int box_cat(int argc, char **argv)
{
	int status = 0;

	if (argc == 1)
		return copy_out(STDIN_FILENO) ? 1 : 0;
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		int error = fd < 0 ? errno : copy_out(fd);

		if (fd >= 0)
			close(fd);
		if (error)
			status = box_error(argv[i], error);
	}
	return status;
}

static void hexdump_line(unsigned at, const unsigned char *b, unsigned n)
{
	printf("%08x ", at);
	for (unsigned i = 0; i < 16; i++) {
		if (i < n)
			printf(" %02x", b[i]);
		else
			printf("   ");
	}
	printf("  ");
	for (unsigned i = 0; i < n; i++)
		putchar(b[i] >= ' ' && b[i] < 127 ? b[i] : '.');
	putchar('\n');
}

int box_hexdump(int argc, char **argv)
{
	unsigned char line[16];
	unsigned at = 0;
	ssize_t n;
	int fd;

	if (argc != 2)
		return box_usage("FILE");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		return box_error(argv[1], errno);
	while ((n = read(fd, line, sizeof(line))) > 0) {
		hexdump_line(at, line, (unsigned)n);
		at += (unsigned)n;
	}
	return n < 0 ? box_error(argv[1], errno) : 0;
}

/* One line: name alone, or with permissions and size. */
static void ls_line(const char *name, const struct stat *st, int longer)
{
	if (longer)
		printf("%c%c%c%c %8ld ", S_ISDIR(st->st_mode) ? 'd' : '-',
		       st->st_mode & 0400 ? 'r' : '-', st->st_mode & 0200 ? 'w' : '-',
		       st->st_mode & 0100 ? 'x' : '-', (long)st->st_size);
	puts(name);
}

static int ls_directory(const char *path, int longer)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return box_error(path, errno);
	while ((e = readdir(dir))) {
		char full[128];
		struct stat st;

		snprintf(full, sizeof(full), "%s/%s", path, e->d_name);
		if (stat(full, &st) == 0)
			ls_line(e->d_name, &st, longer);
	}
	closedir(dir);
	return 0;
}

static int ls_one(const char *path, int longer)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return box_error(path, errno);
	if (S_ISDIR(st.st_mode))
		return ls_directory(path, longer);
	ls_line(path, &st, longer);
	return 0;
}

int box_ls(int argc, char **argv)
{
	int longer = argc > 1 && strcmp(argv[1], "-l") == 0;
	int status = 0;

	if (argc == 1 + longer)
		return ls_one(".", longer);
	for (int i = 1 + longer; i < argc; i++)
		status |= ls_one(argv[i], longer);
	return status;
}
