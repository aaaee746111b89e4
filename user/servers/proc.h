/*
 * What programs ask the proc server. A call on HANDLE_PROC; the reply's label is 0 or a
 * negative errno. Paths travel as data, NUL included, relative to the caller's current
 * directory, which proc keeps.
 */
#ifndef SERVERS_PROC_H
#define SERVERS_PROC_H

#define PROC_VERSION	1

#define PROC_FORK	1	/* -> word[0]: child's pid, 0 in the child              */
#define PROC_EXEC	2	/* data: path; handle[0]: object with the stack image
				 * (docs/formats.md); word[0]: its bytes. Replies only on failure */
#define PROC_WAIT	3	/* word[0]: pid or -1; word[1]: WNOHANG 1
				 * -> word[0]: pid or 0, word[1]: status; data: struct abi_usage
				 * of the child and all it waited for */
#define PROC_KILL	4	/* word[0]: pid, word[1]: signal (0 only asks)          */
#define PROC_IDS	5	/* -> word[0]: pid, [1]: parent, [2]: uid, [3]: gid     */
#define PROC_TIMES	6	/* -> data: struct abi_usage[2]: self, waited-for children */
#define PROC_CHDIR	7	/* data: path                                           */
#define PROC_GETCWD	8	/* -> data: path                                        */
#define PROC_OPEN	9	/* data: path; word[0]: flags as open() -> handle[0]: descriptor;
				 * -EROFS if it asks to write                           */
#define PROC_STAT	10	/* data: path -> data: struct abi_stat                  */
#define PROC_READDIR	11	/* data: path; word[0]: n -> data: the n-th name; -ENOENT at the end */
#define PROC_PARENTS	12	/* -> data: struct proc_parent[], all processes, for ps  */

struct proc_parent { int pid, parent; };

#endif
