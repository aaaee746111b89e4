/* exec: how it fails, what it leaves intact then, what it passes on. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <clockhand.h>
#include "user/tests/tap.h"

static char self[] = "/bin/t_exec";

static int exec_errno(const char *path)
{
	char *const argv[] = { "x", NULL };

	errno = 0;
	execv(path, argv);
	return errno;
}

static void failures(void)
{
	char longer[300], *page = tap_map(1);

	tap_fill(page, 5);
	tap_equal(exec_errno("/bin/nosuch"), ENOENT, "exec-fail-01", "no such file");
	tap_equal(exec_errno(""), ENOENT, "exec-fail-02", "an empty name");
	tap_equal(exec_errno("/bin"), EACCES, "exec-fail-03", "a directory");
	tap_equal(exec_errno("/bin/sh/x"), ENOTDIR, "exec-fail-04", "below a file");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	tap_equal(exec_errno(longer), ENAMETOOLONG, "exec-fail-05", "a long name");
	longer[100] = '\0';
	tap_equal(exec_errno(longer), ENAMETOOLONG, "exec-fail-06", "one longer than names are");
	tap_equal(exec_errno("/bin/not_a_program"), ENOEXEC, "exec-fail-09", "text");
	tap_equal(exec_errno("/bin/cut_program"), ENOEXEC, "exec-fail-10", "a program cut short");
	tap_equal(exec_errno("/bin/empty_program"), ENOEXEC, "exec-fail-11", "an empty file");
	tap_equal(exec_errno("/bin/low_program"), ENOEXEC, "exec-fail-12", "a program for page 0");
	tap_equal(exec_errno("/etc/data"), EACCES, "exec-fail-13", "a file that is no program");
	tap_case(tap_intact(page, 5), "exec-fail-07", "the caller is what it was");
	munmap(page, TAP_PAGE);
}

static void too_big(void)
{
	static char big[200 << 10];
	char *const argv[] = { "x", big, NULL };

	memset(big, 'b', sizeof(big) - 1);
	errno = 0;
	execv(self, argv);
	tap_equal(errno, E2BIG, "exec-fail-08", "200 KiB of arguments");
}

/* The second half: what main() sees when it was started by exec below. */
static int second(int argc, char **argv)
{
	if (strcmp(argv[1], "args") == 0)
		return argc == 5 && strcmp(argv[2], "a b") == 0 && argv[3][0] == '\0' &&
			strcmp(argv[4], "'") == 0 && !argv[5] && getenv("MARK") &&
			strcmp(getenv("MARK"), "here") == 0 ? 0 : 1;
	if (strcmp(argv[1], "fds") == 0)
		return fcntl(10, F_GETFD) == 0 && fcntl(11, F_GETFD) == -1 ? 0 : 1;
	if (strcmp(argv[1], "big") == 0)
		return argc == 3 && strlen(argv[2]) == 100000 ? 0 : 1;
	if (strcmp(argv[1], "fresh") == 0) {
		char *p = sbrk(TAP_PAGE);

		return p[0] == 0 && p[TAP_PAGE - 1] == 0 ? 0 : 1;
	}
	return 9;
}

static void exec_args(void *arg)
{
	(void)arg;
	setenv("MARK", "here", 1);
	execl(self, "t_exec", "args", "a b", "", "'", (char *)NULL);
}

static void exec_fds(void *arg)
{
	(void)arg;
	dup2(1, 10);
	dup2(1, 11);
	fcntl(11, F_SETFD, FD_CLOEXEC);
	execl(self, "t_exec", "fds", (char *)NULL);
}

static void exec_big(void *arg)
{
	static char big[100001];

	(void)arg;
	memset(big, 'b', 100000);
	execl(self, "t_exec", "big", big, (char *)NULL);
}

static void exec_fresh(void *arg)
{
	char *p = sbrk(64 * TAP_PAGE);

	(void)arg;
	memset(p, 0x77, 64 * TAP_PAGE);
	execl(self, "t_exec", "fresh", (char *)NULL);
}

static void passed_on(void)
{
	tap_equal(tap_child(exec_args, NULL), TAP_EXITS(0), "exec-pass-01",
		  "arguments and environment");
	tap_equal(tap_child(exec_fds, NULL), TAP_EXITS(0), "exec-pass-02",
		  "descriptors, but not those marked close-on-exec");
	tap_equal(tap_child(exec_big, NULL), TAP_EXITS(0), "exec-pass-03", "100 KiB of arguments");
	tap_equal(tap_child(exec_fresh, NULL), TAP_EXITS(0), "exec-pass-04",
		  "nothing of the old memory");
}

static void names(void)
{
	struct stat st;
	char path[64];
	int fd = open("/bin/sh", O_RDONLY), found = 0;
	DIR *dir = opendir("/bin");
	struct dirent *e;

	tap_case(fd >= 3 && read(fd, path, 4) == 4 && memcmp(path, "\177ELF", 4) == 0,
		 "exec-open-01", "a file of the archive reads");
	tap_case(lseek(fd, 0, SEEK_END) > 4096 && read(fd, path, 1) == 0, "exec-open-02",
		 "its end is its end");
	close(fd);
	tap_case(open("/bin/sh", O_RDWR) < 0 && errno == EROFS, "exec-open-03", "not for writing");
	tap_case(open("/tmp/new", O_WRONLY | O_CREAT, 0644) < 0 && errno == EROFS, "exec-open-04",
		 "nothing new");
	tap_case(open("/nosuch", O_RDONLY) < 0 && errno == ENOENT, "exec-open-05", "no such file");
	tap_case(stat("/bin", &st) == 0 && S_ISDIR(st.st_mode), "exec-stat-01", "a directory");
	while (dir && (e = readdir(dir)))
		found += strcmp(e->d_name, "sh") == 0 || strcmp(e->d_name, "t_exec") == 0;
	tap_equal(found, 2, "exec-dir-01", "one directory over two archives");
	closedir(dir);
	tap_case(chdir("/bin/../bin/.") == 0 && getcwd(path, sizeof(path)) &&
		 strcmp(path, "/bin") == 0, "exec-cwd-01", "the current directory is normal");
	tap_case(stat("sh", &st) == 0 && S_ISREG(st.st_mode), "exec-cwd-02", "names are relative to it");
	tap_case(chdir("sh") < 0 && errno == ENOTDIR, "exec-cwd-03", "not into a file");
	tap_case(unlink("sh") < 0 && errno == EROFS, "exec-rofs-01", "nothing is removed");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return second(argc, argv);
	failures();
	too_big();
	passed_on();
	names();
	return tap_done();
}
