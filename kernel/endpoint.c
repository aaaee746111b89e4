/*
 * Endpoints, and the moves of the state machine that kernel/ipc_types.h draws: who is
 * on which queue, in which state, at which priority. kernel/ipc.c makes calls, receives
 * and replies out of them. Nothing here touches user memory, allocates (but for
 * endpoint_create()) or sleeps.
 *
 * One lock, ipc_lock (RANK_IPC), guards all endpoints and all struct ipc_state. Who wakes
 * somebody changes his state first, under the lock, so a woken thread reads in its own
 * state what happened: wait is IPC_NONE and result says how it ended. A thread that wakes
 * in another state was killed, and takes itself off its queue. Until it has run to do
 * so, the others skip it: thread->killed makes its token void.
 *
 * Priority: a server runs at the best priority of itself and the callers that it has
 * received; each reply works it out anew (usually: no clients left, back to base).
 *
 * Invariants: ipc.1, ipc.2 (kernel/ipc.h).
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/ipc.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "mm/slab.h"

struct spinlock ipc_lock = SPINLOCK_INIT(RANK_IPC);
static uint32_t endpoints_made;

static inline struct thread *ipc_thread(struct list *link)
{
	return container_of(link, struct thread, ipc.link);
}

/* The first thread of a queue that wasn't killed, or NULL. A killed one leaves the
 * queue here; its state it mends itself. Lock held. */
struct thread *ipc_queue_first(struct list *queue)
{
	while (!list_empty(queue)) {
		struct thread *t = ipc_thread(queue->next);

		if (!t->killed)
			return t;
		list_remove(&t->ipc.link);
	}
	return NULL;
}

/* ---- Priority ---- Lock held. */

static void priority_donate(struct thread *server, const struct thread *client)
{
	if (client->priority < server->priority)
		thread_set_priority(server, (enum thread_priority)client->priority);
}

static void priority_restore(struct thread *server)
{
	unsigned best = server->base_priority;
	struct list *l;

	if (server->priority == best)
		return;
	for (l = server->ipc.clients.next; l != &server->ipc.clients; l = l->next)
		best = MIN(best, ipc_thread(l)->priority);
	if (best != server->priority)
		thread_set_priority(server, (enum thread_priority)best);
}

/* ---- Moves of the state machine ---- Lock held; contracts in kernel/ipc.h. */

/* SENDING or NONE -> AWAITING_REPLY: `server` gets the call of `client`. */
void ipc_accept(struct thread *server, struct thread *client)
{
	client->ipc.wait = IPC_AWAITING_REPLY;
	client->ipc.server = server;
	list_insert_tail(&server->ipc.clients, &client->ipc.link);
	server->ipc.received = client;
	priority_donate(server, client);
}

/* SENDING or AWAITING_REPLY -> NONE. The client is not woken. */
void ipc_finish_call(struct thread *client, int result)
{
	struct thread *server = client->ipc.server;

	list_remove(&client->ipc.link);
	client->ipc.wait = IPC_NONE;
	client->ipc.result = result;
	client->ipc.server = NULL;
	if (server == NULL)
		return;
	if (server->ipc.received == client)
		server->ipc.received = NULL;
	priority_restore(server);
}

/* RECEIVING -> NONE. The receiver is not woken. */
void ipc_finish_receive(struct thread *receiver)
{
	list_remove(&receiver->ipc.link);
	receiver->ipc.wait = IPC_NONE;
}

void ipc_wake(struct thread *t)
{
	if (t->state == THREAD_SLEEPING)
		thread_wake(t, OK);
}

/* ---- Endpoints ---- */

static void endpoint_destroy(struct kobject *k)
{
	struct endpoint *ep = container_of(k, struct endpoint, kobject);

	KASSERT(list_empty(&ep->callers) && list_empty(&ep->receivers), "ipc.1");
	kfree(ep);
}

static const struct kobject_ops endpoint_ops = {
	.name	 = "endpoint",
	.destroy = endpoint_destroy,
};

struct endpoint *endpoint_create(void)
{
	struct endpoint *ep = kmalloc(sizeof(*ep), GFP_KERNEL);

	if (ep == NULL)
		return NULL;
	memset(ep, 0, sizeof(*ep));
	kobject_init(&ep->kobject, KOBJECT_ENDPOINT, &endpoint_ops);
	ep->number = ++endpoints_made;
	list_init(&ep->callers);
	list_init(&ep->receivers);
	return ep;
}

void endpoint_receiver_add(struct kobject *k)
{
	container_of(k, struct endpoint, kobject)->receiver_rights++;
}

/* Nobody will ever receive here again: fail all that wait. Lock held. */
static void endpoint_die(struct endpoint *ep)
{
	ep->dead = true;
	while (!list_empty(&ep->callers)) {
		struct thread *t = ipc_thread(ep->callers.next);

		ipc_finish_call(t, -EPIPE);
		ipc_wake(t);
	}
	while (!list_empty(&ep->receivers)) {
		struct thread *t = ipc_thread(ep->receivers.next);

		ipc_finish_receive(t);
		ipc_wake(t);
	}
}

void endpoint_receiver_remove(struct kobject *k)
{
	struct endpoint *ep = container_of(k, struct endpoint, kobject);

	KASSERT(ep->receiver_rights > 0, "handle.1");
	if (--ep->receiver_rights != 0)
		return;
	spin_lock(&ipc_lock);
	endpoint_die(ep);
	spin_unlock(&ipc_lock);
}

void endpoint_notify(struct endpoint *ep, uint32_t bits)
{
	struct thread *receiver;

	COUNT(ipc_notifications);
	spin_lock(&ipc_lock);
	ep->notifications |= bits;
	receiver = ipc_queue_first(&ep->receivers);
	if (receiver != NULL) {
		ipc_finish_receive(receiver);
		ipc_wake(receiver);
	}
	spin_unlock(&ipc_lock);
}

/* The endpoint of `handle` with a reference, if the handle has the right. */
struct endpoint *endpoint_get(uint32_t handle, unsigned right, int *err)
{
	struct kobject *k = handle_get(&current->task->handles, (int)handle,
				       KOBJECT_ENDPOINT, right, err);

	return k == NULL ? NULL : container_of(k, struct endpoint, kobject);
}

/* ---- Threads ---- */

void ipc_thread_init(struct thread *t)
{
	memset(&t->ipc, 0, sizeof(t->ipc));
	list_init(&t->ipc.link);
	list_init(&t->ipc.clients);
}

/* `t` runs and will not return: fail the calls that it has received. Never sleeps. */
void ipc_thread_end(struct thread *t)
{
	spin_lock(&ipc_lock);
	while (!list_empty(&t->ipc.clients)) {
		struct thread *client = ipc_thread(t->ipc.clients.next);

		ipc_finish_call(client, -EPIPE);
		ipc_wake(client);
	}
	spin_unlock(&ipc_lock);
}

/* ipc_notify(endpoint, bits) */
int32_t sys_ipc_notify(const uint32_t *arg)
{
	struct endpoint *ep;
	int err;

	ep = endpoint_get(arg[0], HANDLE_RIGHT_CALL, &err);
	if (ep == NULL)
		return err;
	err = ep->dead ? -EPIPE : OK;
	if (err == OK)
		endpoint_notify(ep, arg[1]);
	kobject_drop(&ep->kobject);
	return err;
}

/* endpoint_create() -> handle with all rights */
int32_t sys_endpoint_create(const uint32_t *arg)
{
	struct endpoint *ep = endpoint_create();
	int h;

	(void)arg;
	if (ep == NULL)
		return -ENOMEM;
	h = handle_insert(&current->task->handles, &ep->kobject,
			  HANDLE_RIGHT_CALL | HANDLE_RIGHT_RECEIVE, 0, HANDLE_AS_SYSTEM);
	if (h < 0)
		kobject_drop(&ep->kobject);
	return h;
}

