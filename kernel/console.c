/*
 * Two streams of characters over four devices.
 *
 *   log        serial 1, VGA, 0xE9; with log=console serial 2 too
 *   console    serial 2 (serial 1 where there is no second port, or console=com1), VGA
 *   input      the console's serial port, and the keyboard (not in the lab)
 *   report     0xE9
 *
 * Input waits in a small ring until somebody reads it; what does not fit is dropped.
 * The ring is filled by interrupts and emptied with interrupts off.
 */
#include "kernel/console.h"
#include "drivers/char.h"
#include "kernel/abi/errno.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "kernel/time.h"

enum { INPUT_BYTES = 1024 };

PARAM_STRING(log_to, "log", "serial");
PARAM_STRING(console_to, "console", "com2");

static bool ready, have_com2;
static bool log_joins_console;		/* log=console, and the console is not com1 */
static enum serial_port console_port = SERIAL_COM1;

static char input[INPUT_BYTES];
static unsigned input_first, input_count;
static struct waitq input_wait = WAITQ_INIT(input_wait);

void console_early_init(void)
{
	if (ready)
		return;
	ready = true;
	e9_init();
	serial_init(SERIAL_COM1);
	have_com2 = serial_init(SERIAL_COM2);
	if (have_com2)
		console_port = SERIAL_COM2;
	vga_init();
}

/* A fault in the first instructions logs before anybody called console_early_init(). */
void console_log(const char *s, size_t n)
{
	console_early_init();
	e9_write(s, n);
	serial_write(SERIAL_COM1, s, n);
	if (log_joins_console)
		serial_write(SERIAL_COM2, s, n);
	vga_write(s, n);
}

void console_put(const char *s, size_t n)
{
	uint32_t flags = irq_save();

	serial_write(console_port, s, n);
	vga_write(s, n);
	irq_restore(flags);
}

void console_report(const char *s, size_t n)
{
	e9_write(s, n);
}

void console_flush(void)
{
	serial_flush(SERIAL_COM1);
	serial_flush(SERIAL_COM2);
}

/* One character typed; interrupt context. */
static void console_input(char c)
{
	if (c == '\r')
		c = '\n';
	if (input_count == INPUT_BYTES)
		return;
	input[(input_first + input_count++) % INPUT_BYTES] = c;
	waitq_wake_one(&input_wait);
}

int console_get(char *to, size_t n)
{
	size_t got = 0;
	uint32_t flags = irq_save();
	int error = 0;

	while (input_count == 0 && error == 0)
		error = waitq_sleep(&input_wait, SLEEP_KILLABLE, 0, "console");
	for (; got < n && input_count != 0; got++, input_count--) {
		to[got] = input[input_first];
		input_first = (input_first + 1) % INPUT_BYTES;
	}
	irq_restore(flags);
	return got != 0 ? (int)got : error;
}

static void replay_to_com2(const char *s, size_t n)
{
	serial_write(SERIAL_COM2, s, n);
}

void console_settings(void)
{
	if (strcmp(console_to, "com1") == 0)
		console_port = SERIAL_COM1;
	else if (strcmp(console_to, "com2") != 0)
		printk("param: console=%s is neither com1 nor com2; com2 it is\n", console_to);
	if (strcmp(log_to, "console") == 0 && console_port == SERIAL_COM2) {
		log_replay(replay_to_com2);
		log_joins_console = true;
	} else if (strcmp(log_to, "console") != 0 && strcmp(log_to, "serial") != 0) {
		printk("param: log=%s is neither serial nor console; serial it is\n", log_to);
	}
}

void console_init(void)
{
	serial_listen(console_port, console_input);
	if (!lab_mode())
		keyboard_init(console_input);
	if (!have_com2)
		printk("console: no second serial port; programs share the first with the log\n");
}
