/* Between the files of the proc server. */
#ifndef SERVERS_PROC_INTERNAL_H
#define SERVERS_PROC_INTERNAL_H

#include <stdbool.h>
#include <clockhand.h>
#include "user/servers/names.h"
#include "user/servers/table.h"

/* A handler's result when the call is answered otherwise or later. */
#define NO_REPLY 1

/*
 * Handlers: `p` is the caller, `m` the call, with m->data at message_data, always
 * NUL-ended. They fill the reply into *m (word, data_bytes, handle; the data at
 * message_data) and return its label: 0 or -errno; or NO_REPLY.
 */
typedef int (*proc_handler)(struct process *p, struct ipc_message *m);

extern char message_data[IPC_DATA_BYTES + 4];	/* aligned for structures */
extern uint32_t message_handles;	/* how many handles came with the call */

/*
 * Answer a call. Data and handles need memory of the kernel's, and if there is none, nothing
 * has been sent: the caller would wait for ever. Then it gets -ENOMEM, or, if proc_wait() has
 * said that the words alone will do, those. Returns as sys_ipc_reply().
 */
int proc_reply(uint32_t token, struct ipc_message *m);
extern bool words_will_do;		/* of the reply at hand */

/* life.c: being born, becoming, ending */
int proc_fork(struct process *p, struct ipc_message *m);
int proc_exec(struct process *p, struct ipc_message *m);
int proc_wait(struct process *p, struct ipc_message *m);
int proc_kill(struct process *p, struct ipc_message *m);
int proc_exception(struct process *p, struct ipc_message *m);
/* Collect all tasks that have ended. */
void proc_reap(void);
/* Start /bin/init as pid 1. */
int proc_start_init(void);

/* ask.c: answers from the table and the archives */
int proc_ids(struct process *p, struct ipc_message *m);
int proc_times(struct process *p, struct ipc_message *m);
int proc_chdir(struct process *p, struct ipc_message *m);
int proc_getcwd(struct process *p, struct ipc_message *m);
int proc_open(struct process *p, struct ipc_message *m);
int proc_stat(struct process *p, struct ipc_message *m);
int proc_readdir(struct process *p, struct ipc_message *m);
int proc_parents(struct process *p, struct ipc_message *m);

/* The message's path, made absolute from p's directory, looked up. */
int message_path(struct process *p, struct ipc_message *m, char path[NAME_BYTES],
		 struct file_name *file);
/* Drop a handle of any kind. */
void handle_drop(int handle);
/* "TEXT PID (NAME) VALUE" into the kernel's log. */
void proc_log(const char *text, const struct process *p, uint32_t value);

#endif
