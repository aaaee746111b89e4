/* The kernel's log: serial 1, VGA and port 0xE9, and a ring that can be read. */
#ifndef KERNEL_PRINTK_H
#define KERNEL_PRINTK_H

#include <stdarg.h>
#include "kernel/types.h"

/* Print to the log. Knows %d %u %x %p %s %c %llu %lld %llx %%, width, 0 and -.
 * May be called anywhere, interrupt handlers included; never sleeps. */
void printk(const char *fmt, ...) PRINTF(1, 2);
void vprintk(const char *fmt, va_list ap);

/* Call fn with the log so far, oldest first, in one or two pieces. */
void log_replay(void (*fn)(const char *s, size_t n));

/* Format into buf[size], always ended by NUL. Returns the length it would need. */
int ksnprintf(char *buf, size_t size, const char *fmt, ...) PRINTF(3, 4);
int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap);

/* Print to port 0xE9 only: what the runner reads (see docs/formats.md). */
void report(const char *fmt, ...) PRINTF(1, 2);

#endif
