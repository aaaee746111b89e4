/* Expansion: quotes, backslashes and $ of one word, and its splitting into fields. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "user/sh/sh.h"

/* A string that grows. Out of memory ends the shell: it could do nothing useful. */
struct text {
	char  *s;
	size_t length, room;
	int    any;		/* a quote made it a field even if empty */
};

static void text_put(struct text *t, char c)
{
	if (t->length + 1 >= t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->s = realloc(t->s, t->room);
		if (!t->s) {
			sh_error("sh", "out of memory");
			_exit(STATUS_NOT_EXECUTABLE);
		}
	}
	t->s[t->length++] = c;
	t->s[t->length] = '\0';
}

/* Where fields go; `splits` is 0 when one string is wanted. */
struct fields {
	char **argv;
	int   *count;
	int    splits, full;
	struct text text;
};

static void field_end(struct fields *f)
{
	if (f->text.length == 0 && !f->text.any)
		return;
	if (*f->count >= SH_WORDS_MAX) {
		f->full = 1;
		return;
	}
	if (!f->text.s) {
		text_put(&f->text, ' ');
		f->text.s[0] = '\0';
	}
	f->argv[(*f->count)++] = f->text.s;
	memset(&f->text, 0, sizeof(f->text));
}

static void value_put(struct fields *f, const char *value, int quoted)
{
	for (; *value; value++) {
		if (!quoted && f->splits && isspace((unsigned char)*value))
			field_end(f);
		else
			text_put(&f->text, *value);
	}
}

static void number_put(struct fields *f, int value)
{
	char digits[12];

	snprintf(digits, sizeof(digits), "%d", value);
	value_put(f, digits, 1);
}

static size_t name_length(const char *s, size_t limit)
{
	size_t n = 0;

	if (limit == 0 || isdigit((unsigned char)s[0]))
		return 0;
	while (n < limit && (isalnum((unsigned char)s[n]) || s[n] == '_'))
		n++;
	return n;
}

static void variable_put(struct fields *f, const char *name, size_t length, int quoted)
{
	char key[64];
	const char *value;

	if (length == 0 || length >= sizeof(key))
		return;
	memcpy(key, name, length);
	key[length] = '\0';
	value = getenv(key);
	if (value)
		value_put(f, value, quoted);
}

/* Expand what follows a '$' at s[0, limit). Returns how many characters it took. */
static size_t dollar_put(struct fields *f, const char *s, size_t limit, int quoted)
{
	size_t n;

	if (limit == 0) {
		text_put(&f->text, '$');
		return 0;
	}
	if (*s == '?' || *s == '$' || *s == '!') {
		number_put(f, *s == '?' ? shell.status : *s == '$' ? getpid() : shell.background);
		return 1;
	}
	if (isdigit((unsigned char)*s)) {
		int i = 1;

		if (*s == '0')
			value_put(f, shell.name, quoted);
		while (i < *s - '0' && shell.arguments[i - 1])
			i++;
		if (*s != '0' && shell.arguments[i - 1])
			value_put(f, shell.arguments[i - 1], quoted);
		return 1;
	}
	if (*s == '{') {
		n = name_length(s + 1, limit - 1);
		variable_put(f, s + 1, n, quoted);
		return n + 1 < limit && s[n + 1] == '}' ? n + 2 : n + 1;
	}
	n = name_length(s, limit);
	if (n == 0)
		text_put(&f->text, '$');
	variable_put(f, s, n, quoted);
	return n;
}

static void expand(struct fields *f, const char *s, size_t length)
{
	char quote = 0;

	for (size_t i = 0; i < length; i++) {
		char c = s[i];

		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
			f->text.any = 1;
		} else if (c == '\\' && quote != '\'' && i + 1 < length &&
			   (!quote || strchr("\\\"$", s[i + 1]))) {
			text_put(&f->text, s[++i]);
		} else if (c == '$' && quote != '\'') {
			i += dollar_put(f, s + i + 1, length - i - 1, quote != 0);
		} else {
			text_put(&f->text, c);
		}
	}
}

int sh_expand(const struct token *word, char **argv, int *count)
{
	struct fields f = { .argv = argv, .count = count, .splits = 1 };

	expand(&f, word->text, word->length);
	field_end(&f);
	return f.full ? -1 : 0;
}

char *sh_expand_one(const char *text, size_t length)
{
	struct fields f = { .splits = 0 };

	expand(&f, text, length);
	if (!f.text.s) {
		text_put(&f.text, ' ');
		f.text.s[0] = '\0';
	}
	return f.text.s;
}

size_t sh_assignment(const struct token *word)
{
	size_t n = name_length(word->text, word->length);

	return n > 0 && n < word->length && word->text[n] == '=' ? n : 0;
}
