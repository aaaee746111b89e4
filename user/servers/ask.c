/* What proc answers from its table and from the boot archives. */
#include <string.h>
#include "kernel/abi/errno.h"
#include "user/servers/proc.h"
#include "user/servers/proc_internal.h"

/* Flags of open(), newlib's (sys/_default_fcntl.h). */
enum { OPEN_ACCESS = 3, OPEN_CREAT = 0x200, OPEN_TRUNC = 0x400, OPEN_EXCL = 0x800 };

int message_path(struct process *p, struct ipc_message *m, char path[NAME_BYTES],
		 struct file_name *file)
{
	uint32_t sent = m->data_bytes;
	int error;

	m->data_bytes = 0;
	if (sent == 0 || message_data[sent - 1] != '\0')
		return -EINVAL;
	error = path_normalise(path, p->cwd, message_data);
	if (error == OK)
		error = name_find(file, path);
	if (error == OK && sent > 1 && message_data[sent - 2] == '/' &&
	    !(file->mode & ABI_S_IFDIR))
		error = -ENOTDIR;
	return error;
}

int proc_ids(struct process *p, struct ipc_message *m)
{
	m->word[0] = (uint32_t)p->pid;
	m->word[1] = (uint32_t)p->parent;
	m->word[2] = m->sender_uid;
	m->word[3] = m->sender_gid;
	m->data_bytes = 0;
	return OK;
}

int proc_times(struct process *p, struct ipc_message *m)
{
	static struct abi_usage both[2];
	int error;

	m->data_bytes = 0;
	error = sys_task_control(p->pid, TASK_CTL_USAGE, (uint32_t)&both[0]);
	if (error < 0)
		return error;
	both[1] = p->waited;
	memcpy(message_data, both, sizeof(both));
	m->data_bytes = sizeof(both);
	return OK;
}

int proc_chdir(struct process *p, struct ipc_message *m)
{
	char path[NAME_BYTES];
	struct file_name file;
	int error = message_path(p, m, path, &file);

	if (error != OK)
		return error;
	if (!(file.mode & ABI_S_IFDIR))
		return -ENOTDIR;
	strcpy(p->cwd, path);
	return OK;
}

int proc_getcwd(struct process *p, struct ipc_message *m)
{
	strcpy(message_data, p->cwd);
	m->data_bytes = strlen(p->cwd) + 1;
	return OK;
}

int proc_open(struct process *p, struct ipc_message *m)
{
	char path[NAME_BYTES];
	struct file_name file;
	uint32_t flags = m->word[0];
	int fd, error = message_path(p, m, path, &file);

	if (error == -ENOENT && (flags & OPEN_CREAT))
		return -EROFS;
	if (error != OK)
		return error;
	if ((flags & OPEN_CREAT) && (flags & OPEN_EXCL))
		return -EEXIST;
	if (file.mode & ABI_S_IFDIR)
		return -EISDIR;
	if ((flags & OPEN_ACCESS) != 0 || (flags & OPEN_TRUNC))
		return -EROFS;
	fd = sys_file_create(file.object, file.first_byte, file.bytes);
	if (fd < 0)
		return fd;
	m->handle[0] = fd;
	m->handle_count = 1;
	return OK;
}

int proc_stat(struct process *p, struct ipc_message *m)
{
	char path[NAME_BYTES];
	struct file_name file;
	struct abi_stat st = { 0 };
	int error = message_path(p, m, path, &file);

	if (error != OK)
		return error;
	st.mode = file.mode;
	st.inode = file.inode;
	st.size = file.bytes;
	memcpy(message_data, &st, sizeof(st));
	m->data_bytes = sizeof(st);
	return OK;
}

int proc_readdir(struct process *p, struct ipc_message *m)
{
	char path[NAME_BYTES], name[NAME_BYTES];
	struct file_name file;
	int length, error = message_path(p, m, path, &file);

	if (error != OK)
		return error;
	if (!(file.mode & ABI_S_IFDIR))
		return -ENOTDIR;
	length = name_list(name, path, m->word[0]);
	if (length < 0)
		return length;
	memcpy(message_data, name, (size_t)length);
	m->data_bytes = (uint32_t)length;
	return OK;
}

int proc_parents(struct process *p, struct ipc_message *m)
{
	struct proc_parent *out = (struct proc_parent *)message_data;
	uint32_t count = 0;

	(void)p;
	for (unsigned i = 0; i < PROC_MAX; i++) {
		struct process *row = process_row(i);

		if (row->state == PROCESS_FREE)
			continue;
		out[count].pid = row->pid;
		out[count].parent = row->parent;
		count++;
	}
	m->data_bytes = count * sizeof(*out);
	return OK;
}
