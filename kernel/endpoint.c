/*
 * Endpoints: birth, death, notifications, and what threads leave behind. kernel/ipc.c has
 * calls, receiving and replies. Nothing here touches user memory, allocates (but for
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
#include "kernel/ipc_moves.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "mm/slab.h"

struct spinlock ipc_lock = SPINLOCK_INIT(RANK_IPC);
static uint32_t endpoints_made;

/* Lock held; see kernel/ipc_moves.h. */
void ipc_restore_priority(struct thread *server)
{
	unsigned best = server->base_priority;
	struct list *l;

	for (l = server->ipc.clients.next; l != &server->ipc.clients; l = l->next)
		best = MIN(best, ipc_thread(l)->priority);
	thread_set_priority(server, (enum thread_priority)best);
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

		ipc_finish_receive(t, -EPIPE);
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

void endpoint_take_notification(struct endpoint *ep, struct ipc_state *s)
{
	struct ipc_message *m = &s->message;

	memset(m, 0, offsetof(struct ipc_message, data));
	m->label = IPC_LABEL_NOTIFY;
	m->word[0] = ep->notifications;
	m->data_bytes = 0;
	m->token = 0;
	m->sender_pid = 0;
	m->sender_uid = 0;
	m->sender_gid = 0;
	ep->notifications = 0;
}

void endpoint_notify(struct endpoint *ep, uint32_t bits)
{
	struct thread *receiver;

	COUNT(ipc_notifications);
	spin_lock(&ipc_lock);
	ep->notifications |= bits;
	receiver = ipc_queue_first(&ep->receivers);
	if (receiver != NULL) {
		endpoint_take_notification(ep, &receiver->ipc);
		ipc_finish_receive(receiver, OK);
		ipc_wake(receiver);
	}
	spin_unlock(&ipc_lock);
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

	ep = endpoint_peek(arg[0], HANDLE_RIGHT_CALL, &err);
	if (ep == NULL)
		return err;
	if (ep->dead)
		return -EPIPE;
	endpoint_notify(ep, arg[1]);
	return OK;
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

