/*
 * The 8254 programmable interval timer, as Intel's data sheet 231164 describes it, and
 * what the PC wires to it: IRQ 0 to the output of channel 0, gate and output of channel
 * 2 to port 0x61.
 */
#include "drivers/pit.h"

#include "kernel/cpu.h"
#include "kernel/thread.h"

enum {
	PORT_CHANNEL0 = 0x40, PORT_CHANNEL2 = 0x42, PORT_CONTROL = 0x43,
	PORT_SYSTEM = 0x61,
	PORT_PIC = 0x20,
};
enum { IRQ_TIMER = 0 };

/* Control words: channel, then "low byte, high byte", then mode; or a command. */
enum {
	CONTROL_CH0_MODE0 = 0x30, CONTROL_CH0_MODE2 = 0x34, CONTROL_CH2_MODE0 = 0xb0,
	CONTROL_CH0_LATCH = 0x00, CONTROL_CH2_LATCH = 0x80,
	CONTROL_CH0_STATUS = 0xe2,	/* read back the status, not the count */
};
enum { STATUS_OUT = 0x80 };
enum { SYSTEM_GATE2 = 0x01, SYSTEM_SPEAKER = 0x02, SYSTEM_OUT2 = 0x20 };
enum { PIC_READ_IRR = 0x0a, PIC_POLL = 0x0c, PIC_EOI_SPECIFIC = 0x60 };
enum { STOPWATCH_COUNTS = 0xffff };

static struct pit_oneshot oneshot;

static void channel0_load(uint8_t control, uint16_t counts)
{
	uint32_t flags = irq_save();

	outb(PORT_CONTROL, control);
	outb(PORT_CHANNEL0, counts & 0xff);
	outb(PORT_CHANNEL0, counts >> 8);
	irq_restore(flags);
}

void pit_start_periodic(uint16_t counts)
{
	channel0_load(CONTROL_CH0_MODE2, counts);
}

/* The counter begins to run with the last byte. */
void pit_start_oneshot(uint16_t counts)
{
	uint32_t flags = irq_save();

	outb(PORT_CONTROL, CONTROL_CH0_MODE0);
	outb(PORT_CHANNEL0, counts & 0xff);
	__asm__ volatile("outb %%al, %1; rdtsc" : "=A"(oneshot.loaded)
			 : "N"(PORT_CHANNEL0), "a"(counts >> 8));
	oneshot.counts = counts;
	irq_restore(flags);
}

struct pit_oneshot pit_oneshot(void)
{
	return oneshot;
}

uint16_t pit_count(void)
{
	uint32_t flags = irq_save();
	uint16_t count;

	outb(PORT_CONTROL, CONTROL_CH0_LATCH);
	count = inb(PORT_CHANNEL0);
	count |= (uint16_t)(inb(PORT_CHANNEL0) << 8);
	irq_restore(flags);
	return count;
}

bool pit_oneshot_over(void)
{
	uint32_t flags = irq_save();
	uint8_t status;

	outb(PORT_CONTROL, CONTROL_CH0_STATUS);
	status = inb(PORT_CHANNEL0);
	irq_restore(flags);
	return (status & STATUS_OUT) != 0;
}

bool pit_irq_pending(void)
{
	uint32_t flags = irq_save();
	uint8_t pending;

	outb(PORT_PIC, PIC_READ_IRR);
	pending = inb(PORT_PIC);
	irq_restore(flags);
	return (pending & BIT(0)) != 0;
}

/* A poll of the interrupt controller takes the best line that is pending, as the CPU would. */
void pit_irq_drop(void)
{
	uint32_t flags = irq_save();

	outb(PORT_PIC, PIC_POLL);
	(void)inb(PORT_PIC);
	outb(PORT_PIC, PIC_EOI_SPECIFIC | IRQ_TIMER);
	irq_restore(flags);
}

void pit_stopwatch_start(void)
{
	outb(PORT_SYSTEM, (inb(PORT_SYSTEM) & ~SYSTEM_SPEAKER) | SYSTEM_GATE2);
	outb(PORT_CONTROL, CONTROL_CH2_MODE0);
	outb(PORT_CHANNEL2, STOPWATCH_COUNTS & 0xff);
	outb(PORT_CHANNEL2, STOPWATCH_COUNTS >> 8);
}

uint16_t pit_stopwatch_counts(void)
{
	uint16_t count;

	outb(PORT_CONTROL, CONTROL_CH2_LATCH);
	count = inb(PORT_CHANNEL2);
	count |= (uint16_t)(inb(PORT_CHANNEL2) << 8);
	return (uint16_t)(STOPWATCH_COUNTS - count);
}

bool pit_stopwatch_over(void)
{
	return (inb(PORT_SYSTEM) & SYSTEM_OUT2) != 0;
}
