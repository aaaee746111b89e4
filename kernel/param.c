/*
 * Kernel parameters. The linker collects every struct param in one array, between
 * params_start and params_end.
 */
#include "kernel/param.h"
#include "kernel/boot.h"
#include "kernel/printk.h"
#include "kernel/string.h"

extern const struct param params_start[], params_end[];

/* The parameter called name[0, n), or NULL. */
static const struct param *param_find(const char *name, size_t n)
{
	for (const struct param *p = params_start; p < params_end; p++)
		if (strlen(p->name) == n && strncmp(p->name, name, n) == 0)
			return p;
	return NULL;
}

/* Read text[0, n) as decimal or 0x-hexadecimal, all of it, without overflow. */
static bool parse_u32(const char *text, size_t n, uint32_t *value)
{
	unsigned base = 10;
	uint64_t v = 0;

	if (n > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		base = 16;
		text += 2;
		n -= 2;
	}
	if (n == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
			: (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a') + 10
			: base;

		if (digit >= base)
			return false;
		v = v * base + digit;
		if (v > UINT32_MAX)
			return false;
	}
	*value = (uint32_t)v;
	return true;
}

static void param_set_u32(const struct param *p, const char *text, size_t n)
{
	uint32_t v;

	if (!parse_u32(text, n, &v))
		printk("param: %s=%.*s is no number; %u stays\n", p->name, (int)n, text,
		       *(uint32_t *)p->value);
	else if (v < p->min || v > p->max)
		printk("param: %s=%u is not between %u and %u; %u stays\n", p->name, v,
		       p->min, p->max, *(uint32_t *)p->value);
	else
		*(uint32_t *)p->value = v;
}

static void param_set_string(const struct param *p, const char *text, size_t n)
{
	if (n >= p->max)
		printk("param: %s= is cut to %u characters\n", p->name, p->max - 1);
	n = MIN(n, (size_t)p->max - 1);
	memcpy(p->value, text, n);
	((char *)p->value)[n] = 0;
}

/* One word, word[0, n). */
static void param_word(const char *word, size_t n)
{
	const struct param *p;
	size_t name = 0;

	while (name < n && word[name] != '=')
		name++;
	p = name < n ? param_find(word, name) : NULL;
	if (name == n)
		printk("param: \"%.*s\" has no =; ignored\n", (int)n, word);
	else if (p == NULL)
		printk("param: nothing is called %.*s; ignored\n", (int)name, word);
	else if (p->kind == PARAM_KIND_U32)
		param_set_u32(p, word + name + 1, n - name - 1);
	else
		param_set_string(p, word + name + 1, n - name - 1);
}

void param_parse(const char *cmdline)
{
	while (*cmdline != 0) {
		size_t n = 0;

		while (cmdline[n] != 0 && cmdline[n] != ' ' && cmdline[n] != '\t')
			n++;
		if (n != 0)
			param_word(cmdline, n);
		cmdline += n;
		while (*cmdline == ' ' || *cmdline == '\t')
			cmdline++;
	}
}

size_t param_text(char *to, size_t size)
{
	size_t at = 0;

	if (size != 0)
		to[0] = 0;
	for (const struct param *p = params_start; p < params_end; p++) {
		size_t room = at < size ? size - at : 0;

		if (p->kind == PARAM_KIND_U32)
			at += (size_t)ksnprintf(to + at, room, "%s %u\n", p->name,
						*(uint32_t *)p->value);
		else
			at += (size_t)ksnprintf(to + at, room, "%s %s\n", p->name,
						(char *)p->value);
	}
	return MIN(at, size);
}

void param_report(void)
{
	for (const struct param *p = params_start; p < params_end; p++) {
		if (p->kind == PARAM_KIND_U32)
			report("@config %s %u\n", p->name, *(uint32_t *)p->value);
		else
			report("@config %s %s\n", p->name, (char *)p->value);
	}
}
