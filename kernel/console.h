/* Characters in and out. The log and the programs' console are two streams. */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include "kernel/types.h"

void console_early_init(void);		/* serial, VGA, 0xE9: works before anything else */
void console_settings(void);		/* obey log= and console=; after param_parse() */
void console_init(void);		/* interrupts for keyboard and serial input */

/* The log: serial 1, VGA, 0xE9. Any context. */
void console_log(const char *s, size_t n);
/* Programs' output: serial 2 (console=com2, default where it exists, else com1), VGA. */
void console_put(const char *s, size_t n);
/* Port 0xE9 only. */
void console_report(const char *s, size_t n);
/* Wait, within bounds, until the serial lines have sent everything. */
void console_flush(void);
/* Up to n characters typed, waiting for the first. Returns the count or -EINTR. Sleeps. */
int  console_get(char *to, size_t n);

/* Write the report of the run (docs/formats.md) and switch the machine off. */
NORETURN void machine_poweroff(int status);
/* Without a report; for panic. */
NORETURN void machine_halt(int status);

#endif
