/* Descriptors and names. The boot archive is read-only: what would change a name
 * fails with EROFS. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <clockhand.h>
#include <user/servers/proc.h>

ssize_t read(int fd, void *buffer, size_t bytes)
{
	return libc_result(sys_read(fd, buffer, bytes));
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
	return libc_result(sys_write(fd, buffer, bytes));
}

int close(int fd)
{
	return libc_result(sys_close(fd));
}

int open(const char *path, int flags, ...)
{
	struct ipc_message m = { .label = PROC_OPEN, .word = { (uint32_t)flags } };
	int error = proc_call_path(&m, path, NULL, 0);

	if (error < 0)
		return libc_result(error);
	if (flags & O_CLOEXEC)
		sys_handle_control(m.handle[0], HANDLE_CTL_SETFD, HANDLE_CLOEXEC);
	return m.handle[0];
}

int creat(const char *path, mode_t mode)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

off_t lseek(int fd, off_t offset, int whence)
{
	uint64_t result;
	int error = sys_seek(fd, (uint32_t)offset, offset < 0 ? ~0u : 0, whence, &result);

	if (error < 0)
		return libc_result(error);
	return result > 0x7fffffffu ? libc_result(-EOVERFLOW) : (off_t)result;
}

static void stat_fill(struct stat *to, const struct abi_stat *from)
{
	memset(to, 0, sizeof(*to));
	to->st_mode = (mode_t)from->mode;
	to->st_ino = (ino_t)from->inode;
	to->st_nlink = 1;
	to->st_size = (off_t)from->size;
	to->st_blksize = (from->mode & ABI_S_IFCHR) == ABI_S_IFCHR ? 1024 : 4096;
	to->st_blocks = (blkcnt_t)((from->size + 511) / 512);
}

int fstat(int fd, struct stat *st)
{
	struct abi_stat abi;
	int error = sys_fstat(fd, &abi);

	if (error >= 0)
		stat_fill(st, &abi);
	return libc_result(error);
}

int stat(const char *path, struct stat *st)
{
	struct ipc_message m = { .label = PROC_STAT };
	struct abi_stat abi;
	int error = proc_call_path(&m, path, &abi, sizeof(abi));

	if (error >= 0)
		stat_fill(st, &abi);
	return libc_result(error);
}

int lstat(const char *path, struct stat *st)
{
	return stat(path, st);
}

int access(const char *path, int mode)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	if (mode & W_OK)
		return libc_result(-EROFS);
	if ((mode & X_OK) && !(st.st_mode & 0111))
		return libc_result(-EACCES);
	return 0;
}

int isatty(int fd)
{
	struct abi_stat abi;
	int error = sys_fstat(fd, &abi);

	if (error < 0) {
		libc_result(error);
		return 0;
	}
	if ((abi.mode & ABI_S_IFCHR) == ABI_S_IFCHR)
		return 1;
	errno = ENOTTY;
	return 0;
}

int dup(int fd)
{
	return libc_result(sys_handle_control(fd, HANDLE_CTL_DUP, 0));
}

int dup2(int fd, int wanted)
{
	return libc_result(sys_handle_control(fd, HANDLE_CTL_DUP2, wanted));
}

int fcntl(int fd, int op, ...)
{
	va_list rest;
	int arg, result;

	va_start(rest, op);
	arg = va_arg(rest, int);
	va_end(rest);
	switch (op) {
	case F_DUPFD:
		return libc_result(sys_handle_control(fd, HANDLE_CTL_DUP, arg));
	case F_DUPFD_CLOEXEC:
		result = sys_handle_control(fd, HANDLE_CTL_DUP, arg);
		if (result >= 0)
			sys_handle_control(result, HANDLE_CTL_SETFD, HANDLE_CLOEXEC);
		return libc_result(result);
	case F_GETFD:
		return libc_result(sys_handle_control(fd, HANDLE_CTL_GETFD, 0));
	case F_SETFD:
		return libc_result(sys_handle_control(fd, HANDLE_CTL_SETFD, arg & FD_CLOEXEC));
	case F_GETFL:
		return isatty(fd) ? O_RDWR : errno == EBADF ? -1 : O_RDONLY;
	default:
		return libc_result(-EINVAL);
	}
}

int chdir(const char *path)
{
	struct ipc_message m = { .label = PROC_CHDIR };

	return libc_result(proc_call_path(&m, path, NULL, 0));
}

char *getcwd(char *buffer, size_t bytes)
{
	char path[256];
	struct ipc_message m = {
		.label = PROC_GETCWD, .data = (uint32_t)path, .reply_room = sizeof(path),
	};
	int error = proc_call(&m);

	if (error >= 0 && m.data_bytes > bytes)
		error = -ERANGE;
	if (libc_result(error) < 0)
		return NULL;
	return memcpy(buffer, path, m.data_bytes);
}

/* What would change a name: EROFS if there is such a name, else why not. */
static int refuse_change(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? -1 : libc_result(-EROFS);
}

int unlink(const char *path)
{
	return refuse_change(path);
}

int rmdir(const char *path)
{
	return refuse_change(path);
}

int link(const char *from, const char *to)
{
	(void)to;
	return refuse_change(from);
}

int mkdir(const char *path, mode_t mode)
{
	struct stat st;

	(void)mode;
	return libc_result(stat(path, &st) < 0 ? -EROFS : -EEXIST);
}
