/*
 * IPC inside the kernel: endpoints, and what tasks, exceptions and handles need of
 * them. The rendezvous itself is in kernel/ipc.c and, for null messages that meet somebody
 * who waits, in kernel/ipc_short.c; what goes in and out of user memory
 * in kernel/message.c.
 *
 * ipc.1  a thread on endpoint->callers is SENDING, one on ->receivers is RECEIVING; one
 *        on a thread's ipc.clients is AWAITING_REPLY and that thread is its ipc.server
 * ipc.2  a dead endpoint has no callers and no receivers
 */
#ifndef KERNEL_IPC_H
#define KERNEL_IPC_H

#include "kernel/handle.h"
#include "kernel/ipc_types.h"
#include "kernel/list.h"
#include "kernel/types.h"

struct task;
struct thread;

/* All but `kobject`: RANK_IPC. */
struct endpoint {
	struct kobject kobject;		/* first */
	uint32_t       number;		/* c  its name in traces */
	uint32_t       receiver_rights;	/* handles that may receive */
	bool	       dead;		/* the last of those is gone */
	uint32_t       notifications;	/* bits set since the last receive */
	struct list    callers;		/* threads, in order of arrival, by ipc.link */
	struct list    receivers;	/* threads that wait for work, by ipc.link */
};

/* A fresh endpoint without receiver rights yet, or NULL without memory. Sleeps. */
struct endpoint *endpoint_create(void);
/* A handle with HANDLE_RIGHT_RECEIVE came to be, or went: the endpoint
 * dies with the last, and all its callers get -EPIPE. Never sleep. */
void endpoint_receiver_add(struct kobject *k);
void endpoint_receiver_remove(struct kobject *k);

/* Or `bits` into the endpoint's notifications. Never sleeps, never allocates. */
void endpoint_notify(struct endpoint *ep, uint32_t bits);
/* Make the endpoint's bits the message of `s` and clear them. ipc_lock held. */
void endpoint_take_notification(struct endpoint *ep, struct ipc_state *s);
/* A call by the kernel on behalf of `current`, without data or handles. Returns the
 * reply's label, -EPIPE or -EINTR. Sleeps. */
int  ipc_call_kernel(struct endpoint *ep, uint32_t label, const uint32_t word[IPC_WORDS]);

/* Before a thread's first call; and when it ends: who awaits its reply gets -EPIPE. */
void ipc_thread_init(struct thread *t);
void ipc_thread_end(struct thread *t);

/* The thread whose call `token` names, if a thread of the running task received it
 * and may answer; NULL otherwise. Nothing keeps it so: look again after a sleep. */
struct thread *ipc_find_client(uint32_t token);
/* Is the call of `client` one from user mode, which task_clone and task_exec need? */
bool ipc_client_is_user(const struct thread *client);
/* task_clone: let a fresh thread be one more client of the running thread, as if it had
 * made the call that is being answered. */
void ipc_clone_attach(struct thread *child);
/* What a cloned thread does first: wait, and receive the reply as its parent would. */
int32_t ipc_finish_clone(vaddr_t user_message);
/* Answer the call of `client` by a new program: it returns to user mode with the
 * registers in its trap frame. */
void ipc_answer_by_exec(struct thread *client);

#endif
