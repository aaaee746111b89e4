/* The table of processes: see table.h. */
#include <stddef.h>
#include <string.h>
#include "user/servers/table.h"

static struct process rows[PROC_MAX];
static int32_t next_pid = PID_INIT;

struct process *process_row(unsigned i)
{
	return &rows[i];
}

struct process *process_find(int32_t pid)
{
	struct process *p;

	if (pid <= 0)
		return NULL;
	p = &rows[pid % PROC_MAX];
	return p->state != PROCESS_FREE && p->pid == pid ? p : NULL;
}

static void child_insert(struct process *parent, struct process *p)
{
	p->parent = parent ? parent->pid : 0;
	p->prev = NULL;
	p->next = parent ? parent->children : NULL;
	if (p->next)
		p->next->prev = p;
	if (parent)
		parent->children = p;
}

static void child_remove(struct process *p)
{
	struct process *parent = process_find(p->parent);

	if (p->next)
		p->next->prev = p->prev;
	if (p->prev)
		p->prev->next = p->next;
	else if (parent)
		parent->children = p->next;
}

struct process *process_alloc(struct process *parent)
{
	for (unsigned tries = 0; tries < PROC_MAX; tries++) {
		struct process *p = &rows[next_pid % PROC_MAX];
		int32_t pid = next_pid;

		next_pid = next_pid == TASK_PID_MAX ? PID_INIT + 1 : next_pid + 1;
		if (p->state != PROCESS_FREE)
			continue;
		memset(p, 0, sizeof(*p));
		p->pid = pid;
		p->state = PROCESS_ALIVE;
		memcpy(p->name, parent ? parent->name : "init", parent ? sizeof(p->name) : 5);
		memcpy(p->cwd, parent ? parent->cwd : "/", parent ? sizeof(p->cwd) : 2);
		child_insert(parent, p);
		return p;
	}
	return NULL;
}

void process_free(struct process *p)
{
	child_remove(p);
	p->state = PROCESS_FREE;
}

void process_adopt(struct process *p, struct process *to)
{
	child_remove(p);
	child_insert(to, p);
}

void usage_add(struct abi_usage *a, const struct abi_usage *b)
{
	a->user_ns += b->user_ns;
	a->system_ns += b->system_ns;
	a->faults += b->faults;
	a->major_faults += b->major_faults;
	a->swapped_in += b->swapped_in;
	if (b->max_rss_pages > a->max_rss_pages)
		a->max_rss_pages = b->max_rss_pages;
}
