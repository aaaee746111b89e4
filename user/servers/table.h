/*
 * The table of processes: fixed, one row a process. A pid's row is its remainder
 * by PROC_MAX, so that finding one is a look, not a search.
 *
 * table.1  a row that isn't FREE has pid % PROC_MAX == its index
 * table.2  the rows that name p as parent are exactly those on p's list of children
 */
#ifndef SERVERS_TABLE_H
#define SERVERS_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "kernel/abi/task.h"

enum { PROC_MAX = 1024, PID_MAX = 32767, PID_INIT = 1, CWD_BYTES = 56 };

enum process_state { PROCESS_FREE, PROCESS_ALIVE, PROCESS_ZOMBIE };

struct process {
	int32_t  pid, parent;
	uint8_t  state;			/* enum process_state */
	int32_t  status;		/* ZOMBIE: as wait() gives it */
	uint32_t wait_token;		/* pending PROC_WAIT; 0: none */
	int32_t  wait_pid;		/* ... for whom; -1: any child */
	struct process *children;	/* the newest first */
	struct process *next, *prev;	/* siblings */
	struct abi_usage own;		/* ZOMBIE: final figures */
	struct abi_usage waited;	/* of children it waited for, with theirs */
	char	 name[16];
	char	 cwd[CWD_BYTES];
};

/* The process with this pid, alive or zombie; NULL if there is none. */
struct process *process_find(int32_t pid);
/* A new row with a pid that nobody has, child of `parent` (NULL: of nobody), with
 * its name and directory. NULL if the table is full. */
struct process *process_alloc(struct process *parent);
/* Off its parent's list and free. It must have no children. */
void process_free(struct process *p);
/* Make `p` a child of `to`. */
void process_adopt(struct process *p, struct process *to);
/* Row number i of PROC_MAX, for walks. */
struct process *process_row(unsigned i);

/* Add `b` to `a`; the largest resident set is the larger one. */
void usage_add(struct abi_usage *a, const struct abi_usage *b);

#endif
