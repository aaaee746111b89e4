/*
 * Text on a VGA (frame buffer 0xb8000, CRTC 0x3d4) or, where bit 0 of the
 * miscellaneous output register says mono, on an MDA (0xb0000, 0x3b4): 80 columns, 25
 * lines. Knows newline, return, tab, backspace and form feed; what terminals know
 * more is the tty server's.
 */
#include "drivers/char.h"
#include "kernel/cpu.h"
#include "kernel/string.h"
#include "mm/page.h"

enum {
	COLUMNS = 80, LINES = 25, TAB = 8,
	CELL_BLANK = 0x0720,		/* light grey on black */
	PORT_MISC_READ = 0x3cc, MISC_COLOUR = 0x01,
	CRTC_COLOUR = 0x3d4, CRTC_MONO = 0x3b4,
	CRTC_CURSOR_HIGH = 0x0e, CRTC_CURSOR_LOW = 0x0f,
};

static uint16_t *screen;
static uint16_t crtc;
static unsigned column, line;

static void clear_line(unsigned l)
{
	for (unsigned c = 0; c < COLUMNS; c++)
		screen[l * COLUMNS + c] = CELL_BLANK;
}

static void clear_screen(void)
{
	for (unsigned l = 0; l < LINES; l++)
		clear_line(l);
	column = line = 0;
}

static void new_line(void)
{
	column = 0;
	if (line + 1 < LINES) {
		line++;
		return;
	}
	memmove(screen, screen + COLUMNS, COLUMNS * (LINES - 1) * sizeof(*screen));
	clear_line(LINES - 1);
}

static void put(char c)
{
	switch (c) {
	case '\n':
		new_line();
		return;
	case '\r':
		column = 0;
		return;
	case '\b':
		column -= column != 0;
		return;
	case '\f':
		clear_screen();
		return;
	case '\t':
		column = (column / TAB + 1) * TAB;
		break;
	default:
		screen[line * COLUMNS + column++] = (CELL_BLANK & 0xff00) | (uint8_t)c;
	}
	if (column >= COLUMNS)
		new_line();
}

static void show_cursor(void)
{
	unsigned at = line * COLUMNS + column;

	outb(crtc, CRTC_CURSOR_HIGH);
	outb(crtc + 1, (uint8_t)(at >> 8));
	outb(crtc, CRTC_CURSOR_LOW);
	outb(crtc + 1, (uint8_t)at);
}

/* Clear the screen. The linear map's first 4 MiB must stand. */
void vga_init(void)
{
	bool colour = inb(PORT_MISC_READ) & MISC_COLOUR;

	screen = (uint16_t *)(KERNEL_BASE + (colour ? 0xb8000u : 0xb0000u));
	crtc = colour ? CRTC_COLOUR : CRTC_MONO;
	clear_screen();
	show_cursor();
}

/* Write n bytes at the cursor. Interrupts off, or nobody else writes. */
void vga_write(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(s[i]);
	show_cursor();
}
