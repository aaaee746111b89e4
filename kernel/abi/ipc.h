/* Messages: docs/formats.md, "Messages". */
#ifndef ABI_IPC_H
#define ABI_IPC_H

#include <stdint.h>

#define IPC_ABI_VERSION		1
#define IPC_WORDS		6
#define IPC_HANDLES		3
#define IPC_DATA_BYTES		4096

/*
 * One message, both ways. Before ipc_call the caller fills label, word[],
 * handle_count, handle[], data, data_bytes (what it sends) and reply_room (how
 * many bytes of the reply's data fit at `data`). After it, label, word[],
 * handle_count, handle[] (numbers in the caller's table) and data_bytes are the
 * reply's.
 *
 * ipc_receive fills everything; the caller of it sets data and reply_room (room
 * for incoming data) beforehand. sender_* and token are the kernel's word.
 */
struct ipc_message {
	uint32_t label;			/* what is asked; replies: 0 or a negative errno */
	uint32_t word[IPC_WORDS];
	uint32_t handle_count;		/* 0 to IPC_HANDLES */
	int32_t  handle[IPC_HANDLES];
	uint32_t data;			/* user address */
	uint32_t data_bytes;		/* 0 to IPC_DATA_BYTES */
	uint32_t reply_room;
	/* Filled by ipc_receive */
	uint32_t token;			/* names the pending call; 0 for a notification */
	int32_t  sender_pid;
	uint32_t sender_uid, sender_gid;
};
#ifdef __i386__
_Static_assert(sizeof(struct ipc_message) == 72, "ABI: messages keep their size");
#endif

/* Labels from the kernel. Those of servers are below IPC_LABEL_KERNEL. */
#define IPC_LABEL_KERNEL	0x80000000u
#define IPC_LABEL_NOTIFY	0x80000000u	/* word[0]: the bits that were set */
#define IPC_LABEL_EXCEPTION	0x80000001u	/* to proc, a call of the faulting thread:
						 * word: signal, address, eip, trap vector.
						 * reply label 0: go on. */

/* Bits of notifications that the kernel sends to proc's endpoint. */
#define NOTIFY_TASK_DEAD	0x00000001u	/* task_reap() has something */

#endif
