/* The devices that move characters. None of them sleeps; all waits are bounded. */
#ifndef DRIVERS_CHAR_H
#define DRIVERS_CHAR_H

#include "kernel/types.h"

/* 16550 or 8250 UARTs. */
enum serial_port { SERIAL_COM1, SERIAL_COM2, SERIAL_PORTS };
/* Find it and set 115200 8N1. False if there is none. */
bool serial_init(enum serial_port port);
void serial_write(enum serial_port port, const char *s, size_t n);
/* Wait until all of it is on the line, before the machine goes off. */
void serial_flush(enum serial_port port);
/* Give every character that arrives to `sink`, in interrupt context. */
void serial_listen(enum serial_port port, void (*sink)(char c));

/* VGA (or MDA) text, 80x25, bottom line scrolls. */
void vga_init(void);
void vga_write(const char *s, size_t n);

/* PC keyboard, scan code set 1, US layout. `sink` is called in interrupt context. */
void keyboard_init(void (*sink)(char c));

/* Port 0xE9: QEMU's and Bochs' debug console. */
void e9_init(void);
void e9_write(const char *s, size_t n);

#endif
