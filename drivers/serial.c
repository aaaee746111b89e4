/*
 * Serial ports: 8250, 16450 and 16550 at the PC's addresses, 115200 8N1, output by
 * polling, input by interrupt.
 *
 * An emulator charges dearly for each port access, so a burst of 16 bytes (the FIFO
 * of a 16550) costs one look at the line status; an older UART gets one byte a look.
 * A line that stays busy (no reader, flow stopped) for WAIT_LOOKS looks is taken as
 * stalled and loses what is written until it moves again: the log must never stop the
 * machine. Register numbers: National Semiconductor PC16550D data sheet.
 */
#include "drivers/char.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"
#include "kernel/trap.h"

enum {
	REG_DATA = 0, REG_IER = 1, REG_FCR = 2, REG_IIR = 2, REG_LCR = 3, REG_MCR = 4,
	REG_LSR = 5, REG_SCRATCH = 7,
	REG_DIVISOR_LOW = 0, REG_DIVISOR_HIGH = 1,	/* while LCR_DLAB is set */

	IER_RECEIVED = 0x01,
	FCR_ENABLE_CLEAR = 0x07,
	IIR_FIFO = 0xc0,
	LCR_8N1 = 0x03, LCR_DLAB = 0x80,
	MCR_DTR_RTS_OUT2 = 0x0b, MCR_LOOP = 0x10,
	LSR_RECEIVED = 0x01, LSR_EMPTY = 0x20, LSR_SENT = 0x40,

	DIVISOR_115200 = 1,
	FIFO_BYTES = 16,
	WAIT_LOOKS = 2000000,		/* two seconds of a real ISA bus */
	LOOPBACK_LOOKS = 10000,
	RECEIVE_MAX = 64,		/* characters an interrupt takes at most */
};

struct uart {
	uint16_t base;
	uint8_t	 irq;
	bool	 present, stalled;
	uint8_t	 burst;			/* bytes that fit when LSR_EMPTY is set */
	void   (*sink)(char c);
};

static struct uart uarts[SERIAL_PORTS] = {
	[SERIAL_COM1] = { .base = 0x3f8, .irq = 4 },
	[SERIAL_COM2] = { .base = 0x2f8, .irq = 3 },
};

/* A byte sent in loopback mode must arrive: an empty bus reads 0xff everywhere. */
static bool loopback_works(const struct uart *u)
{
	bool ok = false;

	outb(u->base + REG_MCR, MCR_DTR_RTS_OUT2 | MCR_LOOP);
	outb(u->base + REG_DATA, 0xa5);
	for (unsigned i = 0; i < LOOPBACK_LOOKS && !ok; i++)
		ok = (inb(u->base + REG_LSR) & LSR_RECEIVED) != 0;
	return ok && inb(u->base + REG_DATA) == 0xa5;
}

bool serial_init(enum serial_port port)
{
	struct uart *u = &uarts[port];

	outb(u->base + REG_LCR, LCR_8N1);
	if (inb(u->base + REG_LCR) != LCR_8N1)
		return false;
	outb(u->base + REG_IER, 0);
	outb(u->base + REG_LCR, LCR_8N1 | LCR_DLAB);
	outb(u->base + REG_DIVISOR_LOW, DIVISOR_115200);
	outb(u->base + REG_DIVISOR_HIGH, 0);
	outb(u->base + REG_LCR, LCR_8N1);
	outb(u->base + REG_FCR, FCR_ENABLE_CLEAR);
	u->present = loopback_works(u);
	u->burst = (inb(u->base + REG_IIR) & IIR_FIFO) == IIR_FIFO ? FIFO_BYTES : 1;
	outb(u->base + REG_MCR, MCR_DTR_RTS_OUT2);
	return u->present;
}

/* Wait until the line status has `bit`. False, and the line is stalled, if it hasn't. */
static bool wait_for(struct uart *u, uint8_t bit)
{
	unsigned looks = u->stalled ? 1 : WAIT_LOOKS;

	while (!(inb(u->base + REG_LSR) & bit)) {
		if (--looks == 0) {
			u->stalled = true;
			return false;
		}
	}
	u->stalled = false;
	return true;
}

void serial_write(enum serial_port port, const char *s, size_t n)
{
	struct uart *u = &uarts[port];

	while (u->present && n != 0) {
		size_t burst = MIN(n, (size_t)u->burst);

		if (!wait_for(u, LSR_EMPTY))
			return;
		n -= burst;
		__asm__ volatile("rep outsb" : "+S"(s), "+c"(burst)
				 : "d"(u->base + REG_DATA) : "memory");
	}
}

void serial_flush(enum serial_port port)
{
	if (uarts[port].present)
		wait_for(&uarts[port], LSR_SENT);
}

static void serial_interrupt(unsigned irq, void *arg)
{
	struct uart *u = arg;

	(void)irq;
	for (unsigned i = 0; i < RECEIVE_MAX && (inb(u->base + REG_LSR) & LSR_RECEIVED); i++)
		u->sink((char)inb(u->base + REG_DATA));
}

void serial_listen(enum serial_port port, void (*sink)(char c))
{
	struct uart *u = &uarts[port];

	if (!u->present)
		return;
	u->sink = sink;
	if (irq_register(u->irq, serial_interrupt, u) != 0) {
		printk("serial: no room for IRQ %u, port %u takes no input\n", u->irq, port + 1);
		return;
	}
	outb(u->base + REG_IER, IER_RECEIVED);
}
