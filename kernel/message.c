/*
 * Messages between user memory and a thread's struct ipc_state. Loading happens before
 * a call or reply is queued, storing after the rendezvous is over; both in the context of
 * the thread whose memory it is, with no lock held, for both may fault and sleep. A
 * message without handles and data, the common case, allocates nothing here.
 */
#include "kernel/abi/errno.h"
#include "kernel/ipc.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/usercopy.h"
#include "mm/frame.h"

/* The parts of struct ipc_message that each copy moves. */
enum {
	SENT_BYTES = offsetof(struct ipc_message, token),	/* label to reply_room */
	ROOM_START = offsetof(struct ipc_message, data),
	ROOM_BYTES = SENT_BYTES - ROOM_START,
	REPLY_BYTES = offsetof(struct ipc_message, reply_room),	/* label to data_bytes */
};

/* Give up what the message still holds: its page, and handles nobody took. */
void message_release(struct ipc_state *s)
{
	if (s->data != NULL) {
		page_drop(address_page(s->data));
		s->data = NULL;
	}
	for (unsigned i = 0; i < s->carried_count; i++) {
		if (s->carried[i] != NULL)
			handle_unshare(s->carried[i], s->carried_rights[i]);
		s->carried[i] = NULL;
	}
	s->carried_count = 0;
}

/* Take references to the objects of the handles that the message names. */
static int load_handles(struct ipc_state *s, uint32_t count)
{
	struct handle_table *table = &current_task()->handles;
	int err;

	for (uint32_t i = 0; i < count; i++) {
		s->carried[i] = handle_copy(table, s->message.handle[i],
					    &s->carried_rights[i], &err);
		if (s->carried[i] == NULL)
			return err;
		s->carried_count++;
	}
	return OK;
}

/* Copy the message's data into a page of the kernel's. */
static int load_data(struct ipc_state *s)
{
	struct page *p = page_alloc(GFP_KERNEL, 0);

	if (p == NULL)
		return -ENOMEM;
	s->data = page_address(p);
	return copy_from_user(s->data, s->message.data, s->message.data_bytes);
}

/* Read the message at `user` with what it carries. On an error (-EFAULT; -EINVAL: too many
 * handles or bytes; -EBADF; -ENOMEM) nothing is held. Sleeps. */
int message_load(struct ipc_state *s, vaddr_t user)
{
	struct ipc_message *m = &s->message;
	int err = copy_from_user(m, user, SENT_BYTES);

	if (err != OK)
		return err;
	if ((m->handle_count | m->data_bytes) == 0)
		return OK;
	if (m->handle_count > IPC_HANDLES || m->data_bytes > IPC_DATA_BYTES)
		return -EINVAL;
	err = load_handles(s, m->handle_count);
	if (err == OK && m->data_bytes != 0)
		err = load_data(s);
	if (err != OK)
		message_release(s);
	return err;
}

/* Read only where incoming data may go. -EFAULT. Sleeps. */
int message_load_room(struct ipc_state *s, vaddr_t user)
{
	return copy_from_user((char *)&s->message + ROOM_START, user + ROOM_START,
			      ROOM_BYTES);
}

/* Turn carried objects into handles of the running task, and their numbers into the
 * message's. On an error none of them is left in the table. Sleeps. */
static int store_handles(struct ipc_state *s)
{
	struct handle_table *table = &current_task()->handles;

	for (unsigned i = 0; i < s->carried_count; i++) {
		struct kobject *k = s->carried[i];
		int h;

		kobject_hold(k);
		h = handle_insert(table, k, s->carried_rights[i], 0,
				  k->type == KOBJECT_FILE ? HANDLE_AS_FD : HANDLE_AS_SYSTEM);
		if (h < 0) {
			kobject_drop(k);
			while (i-- > 0)
				handle_close(table, s->message.handle[i]);
			return h;
		}
		s->message.handle[i] = h;
	}
	return OK;
}

static void close_stored(struct ipc_state *s)
{
	for (unsigned i = 0; i < s->carried_count; i++)
		handle_close(&current_task()->handles, s->message.handle[i]);
}

/* The rare part of storing: handles and data, then the message's first `bytes`. Data
 * that don't fit into reply_room are cut; data_bytes tells how many there were. */
static int store_all(struct ipc_state *s, vaddr_t user, size_t bytes)
{
	struct ipc_message *m = &s->message;
	int err = store_handles(s);

	if (err == OK) {
		if (s->data != NULL)
			err = copy_to_user(m->data, s->data,
					   MIN(m->data_bytes, m->reply_room));
		if (err == OK)
			err = copy_to_user(user, m, bytes);
		if (err != OK)
			close_stored(s);
	}
	message_release(s);
	return err;
}

static int store(struct ipc_state *s, vaddr_t user, size_t bytes)
{
	if (s->carried_count == 0 && s->data == NULL)
		return copy_to_user(user, &s->message, bytes);
	return store_all(s, user, bytes);
}

/* Write a reply that has come to the caller's message: -EFAULT, -EMFILE, -ENOMEM; then the
 * caller has no new handles. What it holds is released. Sleeps. */
int message_store_reply(struct ipc_state *s, vaddr_t user)
{
	return store(s, user, REPLY_BYTES);
}

/* Write a received call or notification, the sender's particulars included. As above. */
int message_store_received(struct ipc_state *s, vaddr_t user)
{
	return store(s, user, sizeof(s->message));
}
