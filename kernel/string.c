/*
 * Memory and string functions. Whole words are moved by rep movsl and rep stosl,
 * which is what a 486 does best; under an instruction-counting emulator a word is one
 * instruction.
 */
#include "kernel/string.h"

void *memcpy(void *to, const void *from, size_t n)
{
	void *d = to;
	size_t words = n / 4;

	__asm__ volatile("rep movsl" : "+D"(d), "+S"(from), "+c"(words) : : "memory");
	n &= 3;
	if (n != 0)
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(n) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;

	if (d <= s || d >= s + n)
		return memcpy(to, from, n);
	while (n-- != 0)
		d[n] = s[n];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	void *d = to;
	size_t words = n / 4;
	uint32_t pattern = (uint8_t)c * 0x01010101u;

	__asm__ volatile("rep stosl" : "+D"(d), "+c"(words) : "a"(pattern) : "memory");
	n &= 3;
	if (n != 0)
		__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(pattern) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;

	for (size_t i = 0; i < n; i++)
		if (p[i] != q[i])
			return p[i] - q[i];
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n] != 0)
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a != 0 && *a == *b) {
		a++;
		b++;
	}
	return (uint8_t)*a - (uint8_t)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n != 0; a++, b++, n--)
		if (*a != *b || *a == 0)
			return (uint8_t)*a - (uint8_t)*b;
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (*s == 0)
			return NULL;
	}
}

void strlcpy(char *to, const char *from, size_t size)
{
	size_t n = strlen(from);

	if (size == 0)
		return;
	n = MIN(n, size - 1);
	memcpy(to, from, n);
	to[n] = 0;
}
