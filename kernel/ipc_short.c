/*
 * The short way of the rendezvous: a null call to a server that waits, and a null reply by
 * a server that finds nothing else to do. Each is tested for before anything is changed,
 * but for messages of sleepers that hold none; if it isn't that, kernel/ipc.c does it all.
 * In between the message goes from the sender's memory straight into the receiver's state,
 * and the CPU with it. Interrupts are off up to the switch, so that nothing found by the
 * tests changes, and moves and traces are those of kernel/ipc.c.
 *
 * No reference to the endpoint is needed: a thread that waits in its queues is there only
 * while a handle with the right to receive keeps it (ipc.2).
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/ipc_moves.h"
#include "kernel/switch.h"
#include "kernel/syscall.h"
#include "kernel/trace.h"

/* Take a thread off its queue; the link is inserted anew before it is removed again. */
static ALWAYS_INLINE void unlink_for_now(struct list *n)
{
	struct list *prev = n->prev, *next = n->next;

	prev->next = next;
	next->prev = prev;
}

/* The end of both: `next` got what it waited for and runs from `now` on, `me` sleeps for
 * `what`. Releases the lock. */
static ALWAYS_INLINE void hand_over(struct thread *me, struct thread *next, const char *what,
				    uint64_t now)
{
	ipc_lock_release_first();
	next->ipc.wait = IPC_NONE;
	next->ipc.result = OK;
	next->ipc.got_null = true;
	me->ipc.got_null = false;
	me->waiting_for = what;
	sched_switch_sleeping(me, next, now);
	irq_on();
}

/* The thread that waits first for calls to `ep`, if it lives; else NULL. */
static ALWAYS_INLINE struct thread *first_receiver(const struct endpoint *ep)
{
	struct list *first = ep->receivers.next;

	if (first == &ep->receivers || ipc_thread(first)->killed)
		return NULL;
	return ipc_thread(first);
}

/* The running thread's null message, which `server` has in its state already, is a call. */
static ALWAYS_INLINE void give_call(struct thread *me, struct thread *server,
				    const struct endpoint *ep)
{
	uint64_t now = trace_write(TRACE_CALL, (uint32_t)me->task->pid,
				   server->ipc.message.label, ep->number);

	COUNT(ipc_calls);
	ipc_lock_take_first();
	unlink_for_now(&server->ipc.link);
	ipc_accept(server, me);
	message_sign(&server->ipc.message, me);
	hand_over(me, server, "reply", now);
}

/* ipc_call(endpoint, message). -EBADF -EACCES -EFAULT -EINVAL -ENOMEM; -EPIPE, -EINTR. */
int32_t sys_ipc_call(const uint32_t *arg)
{
	struct thread *me = current, *server;
	struct endpoint *ep;
	int err;

	ep = endpoint_peek(arg[0], HANDLE_RIGHT_CALL, &err);
	if (ep == NULL)
		return err;
	irq_off();
	server = first_receiver(ep);
	if (server == NULL || me->killed || !message_try_load(&server->ipc.message, arg[1]) ||
	    server->ipc.message.label >= IPC_LABEL_KERNEL) {
		irq_on();
		return ipc_call_any(arg);
	}
	give_call(me, server, ep);
	if (!me->ipc.got_null)
		return ipc_call_finish(arg[1]);
	return message_put_null(&me->ipc, arg[1], REPLY_WORDS);
}

/* The thread that waits for the reply to `token` by `me`; else NULL. It has a server only
 * while it awaits its reply (ipc.1), and a killed one doesn't sleep. */
static ALWAYS_INLINE struct thread *waiting_client(uint32_t token, const struct thread *me)
{
	unsigned tid = token & 0xffff;
	struct thread *client = tid < THREADS_MAX ? thread_table[tid] : NULL;

	if (client == NULL || ipc_token(client) != token || client->ipc.server != me ||
	    client->state != THREAD_SLEEPING)
		return NULL;
	return client;
}

/* Is there something to receive from `ep`? */
static ALWAYS_INLINE bool work_waits(const struct endpoint *ep)
{
	return ep->notifications != 0 || !list_empty(&ep->callers);
}

/* The running thread's null message, which `client` has in its state already, is the reply
 * to it; the next call to `ep` is waited for. */
static ALWAYS_INLINE void give_reply(struct thread *me, struct thread *client, struct endpoint *ep)
{
	uint64_t now = trace_write(TRACE_REPLY, (uint32_t)client->task->pid,
				   client->ipc.message.label, 0);

	ipc_lock_take_first();
	unlink_for_now(&client->ipc.link);
	client->ipc.server = NULL;
	if (me->priority != me->base_priority)
		ipc_restore_priority(me);
	me->ipc.wait = IPC_RECEIVING;
	list_insert_tail(&ep->receivers, &me->ipc.link);
	hand_over(me, client, "work", now);
}

/* ipc_reply_receive(token, endpoint, message). The errors of receiving; a void token is
 * none. */
int32_t sys_ipc_reply_receive(const uint32_t *arg)
{
	struct thread *me = current, *client;
	struct endpoint *ep;
	int err;

	ep = endpoint_peek(arg[1], HANDLE_RIGHT_RECEIVE, &err);
	if (ep == NULL)
		return err;
	irq_off();
	client = waiting_client(arg[0], me);
	if (client == NULL || work_waits(ep) || me->killed ||
	    !message_try_load(&client->ipc.message, arg[2])) {
		irq_on();
		return ipc_reply_receive_any(arg);
	}
	give_reply(me, client, ep);
	if (!me->ipc.got_null || message_put_null(&me->ipc, arg[2], RECEIVED_WORDS) != OK)
		return ipc_receive_finish(arg[1], arg[2]);
	return OK;
}
