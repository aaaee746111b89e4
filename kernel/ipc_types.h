/* What IPC keeps inside each thread; see kernel/ipc.c. */
#ifndef KERNEL_IPC_TYPES_H
#define KERNEL_IPC_TYPES_H

#include "kernel/abi/ipc.h"
#include "kernel/list.h"

/*
 *            call, receiver waits            received
 *   NONE ---------------------------+    +-------------+
 *    |  call, nobody receives       v    |             v
 *    +-----------------> SENDING --------+--> AWAITING REPLY ---> NONE
 *    |                     | endpoint dead, killed    | reply, server dead,
 *    |                     +-----------> NONE <-------+ killed (token void)
 *    | receive, nothing there
 *    +-----------------> RECEIVING ----> NONE   call, notification, killed
 */
enum ipc_wait { IPC_NONE, IPC_SENDING, IPC_AWAITING_REPLY, IPC_RECEIVING };

enum { IPC_HANDLE_MAX = IPC_HANDLES };

struct ipc_state {
	uint8_t		 wait;		/* enum ipc_wait, RANK_IPC */
	struct thread	*server;	/* AWAITING_REPLY: who received the call */
	struct list	 link;		/* endpoint->callers or ->receivers; then server's clients */
	struct list	 clients;	/* calls received and not yet answered, by link */
	bool		 got_null;	/* a null message ended the wait, by the short way */
	bool		 from_kernel;	/* an exception: no message in user memory */
	struct ipc_message message;	/* the kernel's copy on its way */
	void		*data;		/* one kernel page, or NULL */
	struct kobject	*carried[IPC_HANDLE_MAX];	/* referenced while on its way */
	uint8_t		 carried_rights[IPC_HANDLE_MAX];
	uint8_t		 carried_count;
	int		 result;	/* OK, or why the rendezvous failed */
};

#endif
