/*
 * PC keyboard behind an 8042: scan code set 1, US layout, shift, control, caps lock.
 * Keys that have no character (arrows, function keys) send what a VT100 does, where
 * it has them. Scan codes: IBM Personal System/2 keyboard technical reference.
 */
#include "drivers/char.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/trap.h"

enum {
	PORT_DATA = 0x60, PORT_STATUS = 0x64, STATUS_FULL = 0x01,
	KEYBOARD_IRQ = 1,
	CODE_EXTENDED = 0xe0, CODE_RELEASE = 0x80,
	CODE_CONTROL = 0x1d, CODE_SHIFT_LEFT = 0x2a, CODE_SHIFT_RIGHT = 0x36, CODE_CAPS = 0x3a,
	DRAIN_MAX = 32,
};

/* Characters by scan code, without and with shift; 0: none. */
static const char plain[] =
	"\0\0331234567890-=\b\tqwertyuiop[]\n\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 ";
static const char shifted[] =
	"\0\033!@#$%^&*()_+\b\tQWERTYUIOP{}\n\0ASDFGHJKL:\"~\0|ZXCVBNM<>?\0*\0 ";

static const struct { uint8_t code; const char *text; } extended_keys[] = {
	{ 0x48, "\033[A" }, { 0x50, "\033[B" }, { 0x4d, "\033[C" }, { 0x4b, "\033[D" },
	{ 0x53, "\177" }, { 0x1c, "\n" }, { 0x35, "/" },
};

static void (*sink)(char c);
static bool extended, shift, control, caps;

static void extended_key(uint8_t code)
{
	if (code == CODE_CONTROL || code == (CODE_CONTROL | CODE_RELEASE))
		control = !(code & CODE_RELEASE);
	for (unsigned i = 0; i < ARRAY_LEN(extended_keys); i++)
		if (extended_keys[i].code == code)
			for (const char *s = extended_keys[i].text; *s; s++)
				sink(*s);
}

static void key(uint8_t code)
{
	uint8_t k = code & (uint8_t)~CODE_RELEASE;
	bool down = !(code & CODE_RELEASE);
	char c;

	if (k == CODE_SHIFT_LEFT || k == CODE_SHIFT_RIGHT) {
		shift = down;
		return;
	}
	if (k == CODE_CONTROL) {
		control = down;
		return;
	}
	if (!down)
		return;
	if (k == CODE_CAPS) {
		caps = !caps;
		return;
	}
	if (k >= sizeof(plain) - 1)
		return;
	c = plain[k];
	if (shift != (caps && c >= 'a' && c <= 'z'))
		c = shifted[k];
	if (control && (c & 0x40))
		c &= 0x1f;
	if (c != 0)
		sink(c);
}

static void keyboard_interrupt(unsigned irq, void *arg)
{
	(void)irq;
	(void)arg;
	for (unsigned i = 0; i < DRAIN_MAX && (inb(PORT_STATUS) & STATUS_FULL); i++) {
		uint8_t code = inb(PORT_DATA);

		if (code == CODE_EXTENDED) {
			extended = true;
		} else if (extended) {
			extended = false;
			extended_key(code);
		} else {
			key(code);
		}
	}
}

void keyboard_init(void (*to)(char c))
{
	sink = to;
	for (unsigned i = 0; i < DRAIN_MAX && (inb(PORT_STATUS) & STATUS_FULL); i++)
		inb(PORT_DATA);		/* what was typed before we listened */
	if (irq_register(KEYBOARD_IRQ, keyboard_interrupt, NULL) != 0)
		printk("keyboard: no room for its interrupt\n");
}
