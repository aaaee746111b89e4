/*
 * The log. A message is formatted on the stack, entered in the ring, and written to
 * the log's lines at once, interrupts off meanwhile, so that messages never mix.
 *
 * The ring keeps the last LOG_BYTES: what was said before the parameters were known
 * is written again to lines that join later (log=console), and a debugger finds it in
 * log_ring.
 */
#include "kernel/printk.h"
#include "kernel/console.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/thread.h"

enum { LOG_BYTES = 8192, MESSAGE_BYTES = 512 };

static char log_ring[LOG_BYTES];
static uint32_t log_end;		/* bytes ever written */

static void ring_append(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		log_ring[log_end++ % LOG_BYTES] = s[i];
}

void vprintk(const char *fmt, va_list ap)
{
	char text[MESSAGE_BYTES];
	size_t n = (size_t)kvsnprintf(text, sizeof(text), fmt, ap);
	uint32_t flags;

	n = MIN(n, sizeof(text) - 1);
	flags = irq_save();
	ring_append(text, n);
	console_log(text, n);
	irq_restore(flags);
}

void printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintk(fmt, ap);
	va_end(ap);
}

void report(const char *fmt, ...)
{
	char text[MESSAGE_BYTES];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = (size_t)kvsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	console_report(text, MIN(n, sizeof(text) - 1));
}

void log_replay(void (*fn)(const char *s, size_t n))
{
	uint32_t start = log_end > LOG_BYTES ? log_end - LOG_BYTES : 0;
	uint32_t at = start % LOG_BYTES, bytes = log_end - start;
	uint32_t first = MIN(bytes, LOG_BYTES - at);

	fn(log_ring + at, first);
	fn(log_ring, bytes - first);
}
