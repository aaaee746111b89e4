/* execve and its family: the image of the new program's first stack goes to proc
 * in a memory object, the path as the message's data. */
#define _GNU_SOURCE			/* execvpe */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <clockhand.h>
#include <user/servers/proc.h>
#include "user/libc/stack_image.h"

extern char **environ;

/* Put the image into a new memory object. Its handle, or -errno. */
static int image_object(size_t size, char *const argv[], char *const envp[])
{
	int object, error = 0;
	int address = sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(address))
		return address;
	object = sys_object_create((size + CLOCKHAND_PAGE - 1) / CLOCKHAND_PAGE);
	if (object >= 0) {
		stack_image_build((char *)address, size, argv, envp);
		error = sys_object_write(object, 0, (char *)address, size);
	}
	sys_munmap((void *)address, size);
	if (object >= 0 && error < 0) {
		sys_handle_close(object);
		return error;
	}
	return object;
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	static char *const none[] = { NULL };
	struct ipc_message m = { .label = PROC_EXEC, .handle_count = 1 };
	size_t size = stack_image_size(argv ? argv : none, envp ? envp : none);
	int object, error;

	if (size == 0)
		return libc_result(-E2BIG);
	object = image_object(size, argv ? argv : none, envp ? envp : none);
	if (object < 0)
		return libc_result(object);
	m.handle[0] = object;
	m.word[0] = size;
	error = proc_call_path(&m, path, NULL, 0);
	sys_handle_close(object);
	return libc_result(error);
}

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

/* The value of PATH, or where programs are when nobody says. */
static const char *path_list(void)
{
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return "/bin";
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	const char *list = path_list();
	char path[256];
	int denied = 0;

	if (strchr(file, '/') || *file == '\0')
		return execve(file, argv, envp);
	while (*list) {
		size_t length = strcspn(list, ":");

		if (length + strlen(file) + 2 <= sizeof(path)) {
			memcpy(path, list, length);
			path[length] = '/';
			strcpy(path + length + 1, file);
			execve(length ? path : file, argv, envp);
			if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
				return -1;
			denied |= errno == EACCES;
		}
		list += length + (list[length] == ':');
	}
	errno = denied ? EACCES : ENOENT;
	return -1;
}

int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

#define EXECL_MAX 64			/* arguments of the list forms */

/* Gather the NULL-ended arguments that follow `first`. False if too many. */
static int gather(char *argv[EXECL_MAX], const char *first, va_list rest)
{
	argv[0] = (char *)first;
	for (int i = 1; argv[i - 1]; i++) {
		if (i == EXECL_MAX)
			return 0;
		argv[i] = va_arg(rest, char *);
	}
	return 1;
}

int execl(const char *path, const char *first, ...)
{
	char *argv[EXECL_MAX];
	va_list rest;
	int ok;

	va_start(rest, first);
	ok = gather(argv, first, rest);
	va_end(rest);
	return ok ? execv(path, argv) : libc_result(-E2BIG);
}

int execlp(const char *file, const char *first, ...)
{
	char *argv[EXECL_MAX];
	va_list rest;
	int ok;

	va_start(rest, first);
	ok = gather(argv, first, rest);
	va_end(rest);
	return ok ? execvp(file, argv) : libc_result(-E2BIG);
}

int execle(const char *path, const char *first, ...)
{
	char *argv[EXECL_MAX], **envp = NULL;
	va_list rest;
	int ok;

	va_start(rest, first);
	ok = gather(argv, first, rest);
	if (ok)
		envp = va_arg(rest, char **);
	va_end(rest);
	return ok ? execve(path, argv, envp) : libc_result(-E2BIG);
}
