/*
 * The moves of the state machine that kernel/ipc_types.h draws, and the short halves of
 * copying messages: what the way of a null call is made of, inline for its sake. Shared
 * by kernel/endpoint.c, kernel/ipc.c and kernel/message.c. The moves are made with
 * ipc_lock held.
 */
#ifndef KERNEL_IPC_MOVES_H
#define KERNEL_IPC_MOVES_H

#include "kernel/abi/errno.h"
#include "kernel/ipc.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/usercopy.h"

extern struct spinlock ipc_lock;	/* RANK_IPC */

/* spin_lock() and spin_unlock() of ipc_lock, its rank being known here. */
static ALWAYS_INLINE void ipc_lock_take(void)
{
	lock_check_rising(BIT(RANK_IPC));
	spin_take(&ipc_lock, BIT(RANK_IPC));
}

static ALWAYS_INLINE void ipc_lock_release(void)
{
	spin_release(&ipc_lock, BIT(RANK_IPC));
}

/* The same for a thread that holds nothing, as it has come from user mode (lock.4), and
 * releases the lock before it takes another for longer. */
static ALWAYS_INLINE void ipc_lock_take_first(void)
{
	if (__builtin_expect(held_ranks != 0, false))
		lock_fault("lock.1", BIT(RANK_IPC));
	if (__builtin_expect(ipc_lock.held != SPIN_FREE, false))
		lock_fault("lock.2", BIT(RANK_IPC));
	ipc_lock.held = SPIN_HELD;
	held_ranks = BIT(RANK_IPC);
}

static ALWAYS_INLINE void ipc_lock_release_first(void)
{
	ipc_lock.held = SPIN_FREE;
	held_ranks = 0;
}

static ALWAYS_INLINE struct thread *ipc_thread(struct list *link)
{
	return container_of(link, struct thread, ipc.link);
}

/* The first thread of a queue that wasn't killed, or NULL. A killed one is taken off the
 * queue here; the rest of its state it mends itself. */
static ALWAYS_INLINE struct thread *ipc_queue_first(struct list *queue)
{
	while (!list_empty(queue)) {
		struct thread *t = ipc_thread(queue->next);

		if (!t->killed)
			return t;
		list_remove(&t->ipc.link);
	}
	return NULL;
}

/* Work out the priority of a server that has lost a client. */
void ipc_restore_priority(struct thread *server);

/* SENDING or NONE -> AWAITING_REPLY: `server` gets the call of `client`, which is on no
 * queue (any more), and at least its priority. */
static ALWAYS_INLINE void ipc_accept(struct thread *server, struct thread *client)
{
	client->ipc.wait = IPC_AWAITING_REPLY;
	client->ipc.server = server;
	list_insert_tail(&server->ipc.clients, &client->ipc.link);
	if (client->priority < server->priority)
		thread_set_priority(server, (enum thread_priority)client->priority);
}

/* SENDING or AWAITING_REPLY -> NONE, with a result; the server's priority is worked out
 * anew. The client is not woken. */
static ALWAYS_INLINE void ipc_finish_call(struct thread *client, int result)
{
	struct thread *server = client->ipc.server;

	list_remove(&client->ipc.link);
	client->ipc.wait = IPC_NONE;
	client->ipc.result = result;
	client->ipc.server = NULL;
	if (server != NULL && server->priority != server->base_priority)
		ipc_restore_priority(server);
}

/* RECEIVING -> NONE, with a message in place (OK) or an error. The receiver is not woken. */
static ALWAYS_INLINE void ipc_finish_receive(struct thread *receiver, int result)
{
	list_remove(&receiver->ipc.link);
	receiver->ipc.wait = IPC_NONE;
	receiver->ipc.result = result;
}

/* Wake a thread whose wait has ended, if it sleeps. Needs no lock. */
static ALWAYS_INLINE void ipc_wake(struct thread *t)
{
	if (t->state == THREAD_SLEEPING)
		thread_wake(t, OK);
}

/* The endpoint of `handle`, if the handle has the right; else NULL and *err. Good until
 * the caller sleeps. */
static ALWAYS_INLINE struct endpoint *endpoint_peek(uint32_t handle, unsigned right, int *err)
{
	struct kobject *k = handle_peek_endpoint(&current->task->handles, (int)handle,
						 right, err);

	return k == NULL ? NULL : container_of(k, struct endpoint, kobject);
}

/* ---- Messages of the running thread: `s` is its state. kernel/message.c ---- */

/* The parts of struct ipc_message that each copy moves, in words. */
enum {
	HEAD_WORDS = offsetof(struct ipc_message, handle) / 4,	/* label to handle_count */
	SENT_WORDS = offsetof(struct ipc_message, token) / 4,	/* label to reply_room */
	ROOM_START = offsetof(struct ipc_message, data),
	ROOM_WORDS = SENT_WORDS - ROOM_START / 4,		/* data to reply_room */
	REPLY_WORDS = offsetof(struct ipc_message, reply_room) / 4, /* label to data_bytes */
	RECEIVED_WORDS = sizeof(struct ipc_message) / 4,
};

/* kernel/ipc.c's general ways of the calls whose short ones are in kernel/ipc_short.c, and
 * what follows those if not a null message came. */
int32_t ipc_call_any(const uint32_t *arg);
int32_t ipc_reply_receive_any(const uint32_t *arg);
int32_t ipc_call_finish(vaddr_t user_message);
int32_t ipc_receive_finish(uint32_t handle, vaddr_t user_message);

int  message_load_rest(struct ipc_state *s);
int  message_store_rest(struct ipc_state *s, vaddr_t user, size_t words);
void message_release_rest(struct ipc_state *s);

/* Does it carry more than words? */
static ALWAYS_INLINE bool message_is_rich(const struct ipc_state *s)
{
	return s->data != NULL || s->carried_count != 0;
}

/* Give up what the message still holds: its page, and handles nobody took. */
static ALWAYS_INLINE void message_release(struct ipc_state *s)
{
	if (message_is_rich(s))
		message_release_rest(s);
}

/* Read the message at `user` with what it carries. On an error (-EFAULT; -EINVAL: too many
 * handles or bytes; -EBADF; -ENOMEM) nothing is held. Sleeps. */
static ALWAYS_INLINE int message_load(struct ipc_state *s, vaddr_t user)
{
	int err = copy_words_from_user(&s->message, user, SENT_WORDS);

	if (err != OK || (s->message.handle_count | s->message.data_bytes) == 0)
		return err;
	return message_load_rest(s);
}

/* Read the head of the message at `user` into `m`, which may be another thread's: true if that
 * is all there is to it, a null message, and a whole one lies in user space. False, and `m`
 * holds no message: there is more, or memory isn't there right now. Never sleeps. */
static ALWAYS_INLINE bool message_try_load(struct ipc_message *m, vaddr_t user)
{
	uint32_t words = HEAD_WORDS, data_bytes;
	void *to = m;

	if (!user_range_ok(user, 4 * RECEIVED_WORDS))
		return false;
	__asm__ volatile("call usercopy_try"
			 : "=a"(data_bytes), "+D"(to), "+S"(user), "+c"(words)
			 : : "memory", "cc");
	m->data_bytes = 0;
	return (data_bytes | m->handle_count) == 0;
}

/* Read only where incoming data may go; data_bytes stays. -EFAULT. Sleeps. */
static ALWAYS_INLINE int message_load_room(struct ipc_state *s, vaddr_t user)
{
	uint32_t data_bytes = s->message.data_bytes;
	int err = copy_words_from_user((char *)&s->message + ROOM_START, user + ROOM_START,
				       ROOM_WORDS);

	s->message.data_bytes = data_bytes;
	return err;
}

/* Write the null message in `s` to `user`, a range in user space: its head and data_bytes; of
 * a received one (RECEIVED_WORDS) the sender's words too. -EFAULT. Sleeps. */
static ALWAYS_INLINE int message_put_null(struct ipc_state *s, vaddr_t user, size_t words)
{
	const void *from = &s->message;
	uint32_t head = HEAD_WORDS;
	int result;

	if (words == RECEIVED_WORDS)
		__asm__ volatile("call usercopy_received"
				 : "=a"(result), "+D"(user), "+S"(from), "+c"(head)
				 : : "memory", "cc");
	else
		__asm__ volatile("call usercopy_reply"
				 : "=a"(result), "+D"(user), "+S"(from), "+c"(head)
				 : : "memory", "cc");
	return result;
}

/* Write what has come to `user`, a reply (REPLY_WORDS) or all (RECEIVED_WORDS), with handles
 * and data. -EFAULT -EMFILE -ENOMEM: then no handle is left in the table. What the message
 * holds is released in any case. Sleeps. */
static ALWAYS_INLINE int message_store(struct ipc_state *s, vaddr_t user, size_t words)
{
	if (message_is_rich(s))
		return message_store_rest(s, user, words);
	return user_range_ok(user, 4 * words) ? message_put_null(s, user, words) : -EFAULT;
}

/* The kernel's word on whose call `m` is. */
static ALWAYS_INLINE void message_sign(struct ipc_message *m, const struct thread *client)
{
	const struct task *sender = client->task;

	m->token = ipc_token(client);
	m->sender_pid = sender->pid;
	m->sender_uid = sender->uid;
	m->sender_gid = sender->gid;
}

/* Move a message from one thread's state to another's; the receiver's `data` and
 * `reply_room` stay. Handle numbers don't travel, only what they name. */
static ALWAYS_INLINE void message_move(struct ipc_state *to, struct ipc_state *from)
{
	to->message.label = from->message.label;
	to->message.word[0] = from->message.word[0];	/* (gcc would loop) */
	to->message.word[1] = from->message.word[1];
	to->message.word[2] = from->message.word[2];
	to->message.word[3] = from->message.word[3];
	to->message.word[4] = from->message.word[4];
	to->message.word[5] = from->message.word[5];
	to->message.handle_count = from->message.handle_count;
	to->message.data_bytes = from->message.data_bytes;
	if (!message_is_rich(from))
		return;
	to->data = from->data;
	to->carried_count = from->carried_count;
	for (unsigned i = 0; i < IPC_HANDLES; i++) {
		to->carried[i] = from->carried[i];
		to->carried_rights[i] = from->carried_rights[i];
	}
	from->data = NULL;
	from->carried_count = 0;
}

#endif
