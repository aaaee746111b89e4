/*
 * The rendezvous: calls, receiving, replies, the general ways; kernel/ipc_short.c has
 * the short ones. docs/formats.md, "Messages", is the contract; kernel/endpoint.c has the
 * lock and the moves of the state machine; kernel/message.c moves messages in and out of
 * user memory, before and after what is done here. Nothing here touches user memory or
 * allocates.
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/ipc_moves.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trace.h"

/* A result beside OK and the errnos: the caller runs another program now. */
enum { IPC_EXECED = 1 };

/* ipc_find_client(), for the way of a null call. */
static ALWAYS_INLINE struct thread *find_client(uint32_t token)
{
	struct thread *client = thread_find(token & 0xffff, token >> 16);

	if (client == NULL || client->ipc.wait != IPC_AWAITING_REPLY || client->killed ||
	    (client->ipc.server != current && client->ipc.server->task != current->task))
		return NULL;
	return client;
}

struct thread *ipc_find_client(uint32_t token)
{
	return find_client(token);
}

bool ipc_client_is_user(const struct thread *client)
{
	return !client->ipc.from_kernel;
}

/* ---- Calling ---- */

/* Sleep until the wait of `current` has ended or it is killed. Nothing but threads
 * changes the state, and none runs between the test and the sleep. */
static void sleep_in_state(const char *what)
{
	uint32_t flags = irq_save();

	while (current->ipc.wait != IPC_NONE &&
	       thread_sleep(SLEEP_KILLABLE, 0, what) != -EINTR)
		;
	irq_restore(flags);
}

/* The end of a call's wait: its result; -EINTR if `current` was killed first. */
static int wait_for_reply(void)
{
	struct ipc_state *me = &current->ipc;

	sleep_in_state("reply");
	if (me->wait == IPC_NONE)
		return me->result;
	ipc_lock_take();
	ipc_finish_call(current, -EINTR);
	ipc_lock_release();
	return -EINTR;
}

/* Switch straight to `next`, asleep in a rendezvous; `current` waits in one too. */
static ALWAYS_INLINE void switch_to(struct thread *next, const char *what)
{
	current->waiting_for = what;
	sched_switch_to(next);
}

/* `server`, which waits for work or runs, gets the call of `client` and its message. Lock
 * held. */
static ALWAYS_INLINE void call_give(struct thread *server, struct thread *client)
{
	ipc_accept(server, client);
	message_move(&server->ipc, &client->ipc);
	message_sign(&server->ipc.message, client);
}

/* Send the message in current->ipc to `ep`, whose reference the caller holds, and wait.
 * OK: the reply is in current->ipc. IPC_EXECED, -EPIPE, -EINTR. Sleeps. */
static int call_endpoint(struct endpoint *ep)
{
	struct ipc_state *me = &current->ipc;
	struct thread *server;

	COUNT(ipc_calls);
	TRACE(CALL, current->task->pid, me->message.label, ep->number);
	if (current->killed)
		return -EINTR;
	ipc_lock_take();
	if (ep->dead) {
		ipc_lock_release();
		return -EPIPE;
	}
	server = ipc_queue_first(&ep->receivers);
	if (server == NULL) {
		me->wait = IPC_SENDING;
		list_insert_tail(&ep->callers, &me->link);
		ipc_lock_release();
	} else {
		ipc_finish_receive(server, OK);
		call_give(server, current);
		ipc_lock_release();
		switch_to(server, "reply");
	}
	return me->wait == IPC_NONE ? me->result : wait_for_reply();
}

/* The end of a call from user mode, its result being `err`: the reply goes out, or what
 * the message carried is dropped. */
static int32_t call_end(int err, vaddr_t user_message)
{
	struct ipc_state *me = &current->ipc;

	if (err == OK)
		return message_store(me, user_message, REPLY_WORDS);
	message_release(me);
	if (err != IPC_EXECED)
		return err;
	task_exec_finish();
	return OK;
}

/* ipc_call(): the general way; kernel/ipc_short.c has the short one. */
int32_t ipc_call_any(const uint32_t *arg)
{
	struct ipc_state *me = &current->ipc;
	struct endpoint *ep;
	int err;

	ep = endpoint_peek(arg[0], HANDLE_RIGHT_CALL, &err);
	if (ep == NULL)
		return err;
	kobject_hold(&ep->kobject);
	err = message_load(me, arg[1]);
	if (err == OK && me->message.label >= IPC_LABEL_KERNEL) {
		message_release(me);
		err = -EINVAL;		/* such labels are the kernel's word */
	}
	if (err != OK) {
		kobject_drop(&ep->kobject);
		return err;
	}
	err = call_endpoint(ep);
	kobject_drop(&ep->kobject);
	return call_end(err, arg[1]);
}

int32_t ipc_call_finish(vaddr_t user_message)
{
	return call_end(current->ipc.wait == IPC_NONE ? current->ipc.result : wait_for_reply(),
			user_message);
}

int ipc_call_kernel(struct endpoint *ep, uint32_t label, const uint32_t word[IPC_WORDS])
{
	struct ipc_state *me = &current->ipc;
	int err;

	memset(&me->message, 0, sizeof(me->message));
	me->message.label = label;
	memcpy(me->message.word, word, sizeof(me->message.word));
	me->from_kernel = true;
	err = call_endpoint(ep);
	me->from_kernel = false;
	message_release(me);
	return err == OK ? (int)me->message.label : err;
}

/* ---- Receiving ---- */

/* The end of a receiver's wait: its result; -EINTR if `current` was killed first. */
static int wait_for_work(void)
{
	struct ipc_state *me = &current->ipc;

	sleep_in_state("work");
	if (me->wait == IPC_NONE)
		return me->result;
	ipc_lock_take();
	ipc_finish_receive(current, -EINTR);
	ipc_lock_release();
	return -EINTR;
}

/* Something for `current` to receive, if there is: true, and its message is filled. A
 * notification comes first. Lock held. */
static ALWAYS_INLINE bool receive_now(struct ipc_state *me, struct endpoint *ep)
{
	struct thread *client;

	if (ep->notifications != 0) {
		endpoint_take_notification(ep, me);
		return true;
	}
	client = ipc_queue_first(&ep->callers);
	if (client == NULL)
		return false;
	list_remove(&client->ipc.link);
	call_give(current, client);
	return true;
}

/* Wait for a call or a notification; its message is in current->ipc then. `replied`, if
 * not NULL, is a client whose reply is in place but who still sleeps: the CPU goes to
 * it if there is nothing to receive. OK, -EPIPE, -EINTR. Called with the lock held, which
 * is released. Sleeps. */
static ALWAYS_INLINE int receive(struct endpoint *ep, struct thread *replied)
{
	struct ipc_state *me = &current->ipc;
	bool here = receive_now(me, ep);

	if (here || ep->dead || current->killed) {
		if (replied != NULL)
			ipc_wake(replied);
		ipc_lock_release();
		return here ? OK : ep->dead ? -EPIPE : -EINTR;
	}
	me->wait = IPC_RECEIVING;
	list_insert_tail(&ep->receivers, &me->link);
	ipc_lock_release();
	if (replied != NULL && replied->state == THREAD_SLEEPING)
		switch_to(replied, "work");	/* a fresh clone may not sleep yet */
	return me->wait == IPC_NONE ? me->result : wait_for_work();
}

/* What was received by `handle` can't be written to user memory. The receiver gets the error; a
 * notification's bits go back, and a call fails: with -EPIPE if the receiver's memory
 * was bad, else with the receiver's own error (-EMFILE, -ENOMEM). */
static int deliver_failed(uint32_t handle, int err)
{
	struct ipc_message *m = &current->ipc.message;
	struct thread *client;
	struct endpoint *ep;
	int gone;

	ipc_lock_take();
	if (m->token == 0) {
		ep = endpoint_peek(handle, HANDLE_RIGHT_RECEIVE, &gone);
		if (ep != NULL)
			ep->notifications |= m->word[0];
	} else {
		client = ipc_find_client(m->token);
		if (client != NULL) {
			ipc_finish_call(client, err == -EFAULT ? -EPIPE : err);
			ipc_wake(client);
		}
	}
	ipc_lock_release();
	return err;
}

static int deliver(uint32_t handle, vaddr_t user_message)
{
	int err = message_store(&current->ipc, user_message, RECEIVED_WORDS);

	return err == OK ? OK : deliver_failed(handle, err);
}

int32_t ipc_receive_finish(uint32_t handle, vaddr_t user_message)
{
	int err = current->ipc.wait == IPC_NONE ? current->ipc.result : wait_for_work();

	return err == OK ? deliver(handle, user_message) : err;
}

/* ipc_receive(endpoint, message) */
int32_t sys_ipc_receive(const uint32_t *arg)
{
	struct endpoint *ep;
	int err;

	ep = endpoint_peek(arg[0], HANDLE_RIGHT_RECEIVE, &err);
	if (ep == NULL)
		return err;
	kobject_hold(&ep->kobject);
	err = message_load_room(&current->ipc, arg[1]);
	if (err == OK) {
		ipc_lock_take();
		err = receive(ep, NULL);
	}
	if (err == OK)
		err = deliver(arg[0], arg[1]);
	kobject_drop(&ep->kobject);
	return err;
}

/* ---- Replying ---- */

/* Move the message of `current` to the client of `token` as its reply. Returns the client,
 * not woken yet, or NULL if the token is void (the message is kept). Lock held. */
static ALWAYS_INLINE struct thread *reply_commit(uint32_t token)
{
	struct thread *client = find_client(token);

	if (client == NULL)
		return NULL;
	message_move(&client->ipc, &current->ipc);
	ipc_finish_call(client, OK);
	TRACE(REPLY, client->task->pid, client->ipc.message.label, 0);
	return client;
}

/*
 * ipc_reply(token, message): answer the call that arg[0] names with the message at user address
 * arg[1]. Returns OK, an error of message_load(), or -ESRCH if the token is void: what the
 * message carried is dropped then. The client is woken after ipc_lock is released. No locks
 * held; sleeps for user memory.
 */
int32_t sys_ipc_reply(const uint32_t *arg)
{
	struct thread *client;
	int err = message_load(&current->ipc, arg[1]);

	if (err != OK)
		return err;
	ipc_lock_take();
	client = reply_commit(arg[0]);
	ipc_lock_release();
	if (client == NULL) {
		message_release(&current->ipc);
		return -ESRCH;
	}
	ipc_wake(client);
	return OK;
}

/* ipc_reply_receive(): the general way. A void token is no error here: the server goes on
 * with the next call. Every error but those of receiving comes before the reply is sent. */
int32_t ipc_reply_receive_any(const uint32_t *arg)
{
	struct ipc_state *me = &current->ipc;
	struct thread *client;
	struct endpoint *ep;
	int err;

	ep = endpoint_peek(arg[1], HANDLE_RIGHT_RECEIVE, &err);
	if (ep == NULL)
		return err;
	kobject_hold(&ep->kobject);
	err = message_load(me, arg[2]);
	if (err == OK) {
		ipc_lock_take();
		client = reply_commit(arg[0]);
		if (client == NULL && message_is_rich(me)) {
			ipc_lock_release();
			message_release(me);
			ipc_lock_take();
		}
		err = receive(ep, client);
	}
	if (err == OK)
		err = deliver(arg[1], arg[2]);
	kobject_drop(&ep->kobject);
	return err;
}

/* ---- task_clone and task_exec ---- */

void ipc_clone_attach(struct thread *child)
{
	ipc_lock_take();
	ipc_accept(current, child);
	ipc_lock_release();
}

int32_t ipc_finish_clone(vaddr_t user_message)
{
	return call_end(wait_for_reply(), user_message);
}

void ipc_answer_by_exec(struct thread *client)
{
	ipc_lock_take();
	ipc_finish_call(client, IPC_EXECED);
	ipc_lock_release();
	ipc_wake(client);
}
