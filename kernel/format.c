/*
 * Formatting: ksnprintf and kvsnprintf, a subset of C's that gcc's format check
 * understands: %d %i %u %x %X %p %s %c %%, with l, ll, z, a width, a precision for
 * strings, and the flags 0, - and #.
 */
#include "kernel/printk.h"
#include "kernel/string.h"

enum { DIGITS_MAX = 24 };

struct out {
	char  *to;
	size_t size, length;		/* length may exceed size: what was needed */
};

struct spec {
	bool	 left, zero, hash;
	unsigned width, precision;
	bool	 has_precision;
	unsigned longs;			/* 0, 1, 2: size of the argument */
};

static void put(struct out *o, char c)
{
	if (o->length + 1 < o->size)
		o->to[o->length] = c;
	o->length++;
}

static void put_padded(struct out *o, const struct spec *sp, const char *s, size_t n)
{
	size_t pad = sp->width > n ? sp->width - n : 0;

	for (size_t i = 0; !sp->left && i < pad; i++)
		put(o, ' ');
	for (size_t i = 0; i < n; i++)
		put(o, s[i]);
	for (size_t i = 0; sp->left && i < pad; i++)
		put(o, ' ');
}

static void put_number(struct out *o, struct spec *sp, uint64_t v, unsigned base,
		       const char *prefix)
{
	char digits[DIGITS_MAX + 8];
	unsigned at = sizeof(digits), prefix_length = (unsigned)strlen(prefix);

	if (v >> 32 == 0) {		/* spare the long division where it can be */
		uint32_t w = (uint32_t)v;

		do
			digits[--at] = "0123456789abcdef"[w % base];
		while ((w /= base) != 0);
	} else {
		do
			digits[--at] = "0123456789abcdef"[v % base];
		while ((v /= base) != 0);
	}
	if (sp->zero && !sp->left)
		while (sizeof(digits) - at + prefix_length < sp->width && at > 4)
			digits[--at] = '0';
	while (prefix_length != 0)
		digits[--at] = prefix[--prefix_length];
	put_padded(o, sp, digits + at, sizeof(digits) - at);
}

static const char *parse_spec(const char *f, struct spec *sp, va_list *ap)
{
	memset(sp, 0, sizeof(*sp));
	for (;; f++) {
		if (*f == '-')
			sp->left = true;
		else if (*f == '0')
			sp->zero = true;
		else if (*f == '#')
			sp->hash = true;
		else
			break;
	}
	if (*f == '*') {
		sp->width = va_arg(*ap, unsigned);
		f++;
	}
	for (; *f >= '0' && *f <= '9'; f++)
		sp->width = sp->width * 10 + (unsigned)(*f - '0');
	if (*f == '.') {
		sp->has_precision = true;
		if (*++f == '*') {
			sp->precision = va_arg(*ap, unsigned);
			f++;
		}
		for (; *f >= '0' && *f <= '9'; f++)
			sp->precision = sp->precision * 10 + (unsigned)(*f - '0');
	}
	for (; *f == 'l' || *f == 'z' || *f == 'h'; f++)
		sp->longs += *f == 'l';
	return f;
}

static void put_string(struct out *o, const struct spec *sp, const char *s)
{
	size_t n = 0;

	if (s == NULL)
		s = "(null)";
	while ((!sp->has_precision || n < sp->precision) && s[n] != 0)
		n++;
	put_padded(o, sp, s, n);
}

static void put_signed(struct out *o, struct spec *sp, int64_t v)
{
	put_number(o, sp, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, v < 0 ? "-" : "");
}

int kvsnprintf(char *buf, size_t size, const char *f, va_list args)
{
	struct out o = { buf, size, 0 };
	struct spec sp;
	va_list ap;
	uint64_t v;
	char c;

	va_copy(ap, args);
	for (; *f != 0; f++) {
		if (*f != '%') {
			put(&o, *f);
			continue;
		}
		f = parse_spec(f + 1, &sp, &ap);
		switch (*f) {
		case 'd': case 'i':
			put_signed(&o, &sp, sp.longs == 2 ? va_arg(ap, int64_t) : va_arg(ap, int));
			break;
		case 'u': case 'x': case 'X':
			v = sp.longs == 2 ? va_arg(ap, uint64_t) : va_arg(ap, unsigned);
			put_number(&o, &sp, v, *f == 'u' ? 10 : 16, sp.hash && v != 0 ? "0x" : "");
			break;
		case 'p':
			sp.zero = true;
			sp.width = 10;
			put_number(&o, &sp, (uintptr_t)va_arg(ap, void *), 16, "0x");
			break;
		case 's':
			put_string(&o, &sp, va_arg(ap, const char *));
			break;
		case 'c':
			c = (char)va_arg(ap, int);
			put_padded(&o, &sp, &c, 1);
			break;
		case 0:
			f--;			/* a lone % at the end */
			break;
		default:
			put(&o, *f);
		}
	}
	va_end(ap);
	if (size != 0)
		buf[MIN(o.length, size - 1)] = 0;
	return (int)o.length;
}

int ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = kvsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}
