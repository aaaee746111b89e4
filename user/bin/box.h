/* /bin/clockbox: many small commands in one program, told apart by argv[0]. */
#ifndef BIN_BOX_H
#define BIN_BOX_H

#include <stdint.h>

typedef int (*box_command)(int argc, char **argv);

/* files.c */
int box_cat(int argc, char **argv);
int box_echo(int argc, char **argv);
int box_hexdump(int argc, char **argv);
int box_ls(int argc, char **argv);
int box_pwd(int argc, char **argv);
/* process.c */
int box_true(int argc, char **argv);
int box_false(int argc, char **argv);
int box_kill(int argc, char **argv);
int box_ps(int argc, char **argv);
int box_sleep(int argc, char **argv);
int box_time(int argc, char **argv);
int box_uname(int argc, char **argv);
/* memory.c */
int box_free(int argc, char **argv);
int box_swapon(int argc, char **argv);
int box_swapoff(int argc, char **argv);
int box_vmstat(int argc, char **argv);
/* fault.c */
int box_fault(int argc, char **argv);
/* leaks.c */
int box_leaks(int argc, char **argv);
/* machine.c */
int box_audit(int argc, char **argv);
int box_counters(int argc, char **argv);
int box_dropcaches(int argc, char **argv);
int box_params(int argc, char **argv);
int box_poweroff(int argc, char **argv);
int box_trace(int argc, char **argv);

/* Say "NAME: WHAT: REASON" for errno `error` (positive). Returns 1. */
int box_error(const char *what, int error);
/* Say how the command is used. Returns 2. */
int box_usage(const char *text);
/* sysinfo(what) into `buffer`; the count filled, or -1 after a message. */
int box_sysinfo(int what, void *buffer, unsigned bytes);

#endif
