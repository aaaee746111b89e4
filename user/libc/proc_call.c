/* Calls on the proc server, and errno. */
#include <errno.h>
#include <string.h>
#include <clockhand.h>

int libc_result(int result)
{
	if (!sys_failed(result))
		return result;
	errno = -result;
	return -1;
}

int proc_call(struct ipc_message *m)
{
	int error = sys_ipc_call(HANDLE_PROC, m);

	return error < 0 ? error : (int)m->label;
}

int proc_call_path(struct ipc_message *m, const char *path, void *reply, size_t room)
{
	/* One buffer carries both ways, since a message has one data address. */
	union {
		char path[256];
		char reply[256];
	} data;
	size_t bytes = strlen(path) + 1;
	int error;

	if (bytes > sizeof(data.path))
		return -ENAMETOOLONG;
	memcpy(data.path, path, bytes);
	m->data = (uint32_t)data.path;
	m->data_bytes = bytes;
	m->reply_room = room < sizeof(data.reply) ? room : sizeof(data.reply);
	error = proc_call(m);
	if (error >= 0 && room > 0)
		memcpy(reply, data.reply, m->data_bytes < room ? m->data_bytes : room);
	return error;
}
