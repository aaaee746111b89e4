/*
 * Messages between user memory and a thread's struct ipc_state. Loading happens before
 * a call or reply is queued, storing after the rendezvous is over; both in the context of
 * the thread whose memory it is, with no lock held, for both may fault and sleep. A
 * message without handles and data, the common case, allocates nothing here.
 */
#include "kernel/abi/errno.h"
#include "kernel/ipc_moves.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/usercopy.h"
#include "mm/frame.h"

void message_release_rest(struct ipc_state *s)
{
	if (s->data != NULL)
		page_drop(address_page(s->data));
	s->data = NULL;
	for (unsigned i = 0; i < s->carried_count; i++) {
		if (s->carried[i] != NULL)
			kobject_drop(s->carried[i]);
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

/* The rest of message_load(), when the words say that more belongs to the message. */
int message_load_rest(struct ipc_state *s)
{
	struct ipc_message *m = &s->message;
	int err;

	if (m->handle_count > IPC_HANDLES || m->data_bytes > IPC_DATA_BYTES)
		return -EINVAL;
	err = load_handles(s, m->handle_count);
	if (err == OK && m->data_bytes != 0)
		err = load_data(s);
	if (err != OK)
		message_release(s);
	return err;
}

/* Turn carried objects into handles of the running task, and their numbers into the
 * message's. On an error none of them is left in the table. Sleeps. */
static int store_handles(struct ipc_state *s)
{
	struct handle_table *table = &current_task()->handles;

	for (unsigned i = 0; i < s->carried_count; i++) {
		struct kobject *k = s->carried[i];
		int h = handle_insert(table, k, s->carried_rights[i], 0,
				      k->type == KOBJECT_FILE ? HANDLE_AS_FD : HANDLE_AS_SYSTEM);

		if (h < 0) {
			while (i-- > 0)
				handle_close(table, s->message.handle[i]);
			return h;
		}
		s->carried[i] = NULL;		/* the reference is the handle's now */
		s->message.handle[i] = h;
	}
	return OK;
}

static void close_stored(struct ipc_state *s)
{
	for (unsigned i = 0; i < s->carried_count; i++)
		handle_close(&current_task()->handles, s->message.handle[i]);
}

/* Write handles, data and words; see message_store(). Data that don't fit into reply_room are
 * cut; data_bytes tells how many there were. */
static int store_all(struct ipc_state *s, vaddr_t user, size_t words)
{
	struct ipc_message *m = &s->message;
	int err = store_handles(s);

	if (err != OK)
		return err;
	if (s->data != NULL)
		err = copy_to_user(m->data, s->data, MIN(m->data_bytes, m->reply_room));
	if (err == OK)
		err = copy_words_to_user(user, m, words);
	if (err != OK)
		close_stored(s);
	return err;
}

/* The rest of message_store(). Where data may go is read only now: a null message that was
 * sent before didn't say it to the kernel. */
int message_store_rest(struct ipc_state *s, vaddr_t user, size_t words)
{
	int err = message_load_room(s, user);

	if (err == OK)
		err = store_all(s, user, words);
	message_release(s);
	return err;
}
