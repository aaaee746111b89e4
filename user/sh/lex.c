/* Cutting text into words and operators. Quotes stay in the words: expansion needs
 * to know what was quoted. */
#include <string.h>
#include "user/sh/sh.h"

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int ends_word(char c)
{
	return c == '\0' || c == '\n' || is_blank(c) || c == ';' || c == '&' || c == '|';
}

/* Length of the quoted part at `s`, which begins with its quote; 0: not closed. */
static size_t quoted_length(const char *s)
{
	char quote = s[0];
	size_t i = 1;

	while (s[i] && s[i] != quote)
		i += quote == '"' && s[i] == '\\' && s[i + 1] ? 2 : 1;
	return s[i] ? i + 1 : 0;
}

/* Length of the word at `s`; 0 if a quote isn't closed. */
static size_t word_length(const char *s)
{
	size_t i = 0, part;

	while (!ends_word(s[i])) {
		if (s[i] == '\\' && s[i + 1]) {
			i += 2;
		} else if (s[i] == '\'' || s[i] == '"') {
			part = quoted_length(s + i);
			if (part == 0)
				return 0;
			i += part;
		} else {
			i++;
		}
	}
	return i;
}

/* The token at `s`, which is no blank. length 0: an error was told. */
static struct token token_at(const char *s)
{
	struct token t = { .kind = TOKEN_WORD, .text = s, .length = 1 };

	if (*s == ';' || *s == '\n') {
		t.kind = TOKEN_SEMI;
	} else if (*s == '&' || (s[0] == '|' && s[1] == '|')) {
		t.length = s[1] == s[0] ? 2 : 1;
		t.kind = *s == '|' ? TOKEN_OR : t.length == 2 ? TOKEN_AND : TOKEN_AMP;
	} else if (*s == '|') {
		sh_error("|", "there are no pipes yet");
		t.length = 0;
	} else if (*s == '!' && ends_word(s[1])) {
		t.kind = TOKEN_NOT;
	} else {
		t.length = word_length(s);
		if (t.length == 0)
			sh_error("syntax", "a quote is not closed");
	}
	return t;
}

int sh_tokenise(struct token tokens[SH_TOKENS_MAX], const char *text)
{
	int count = 0;

	for (;;) {
		while (is_blank(*text) || (text[0] == '\\' && text[1] == '\n'))
			text += *text == '\\' ? 2 : 1;
		if (*text == '#')
			text += strcspn(text, "\n");
		if (*text == '\0')
			break;
		if (count == SH_TOKENS_MAX - 1) {
			sh_error("syntax", "too long");
			return -1;
		}
		tokens[count] = token_at(text);
		if (tokens[count].length == 0)
			return -1;
		text += tokens[count++].length;
	}
	tokens[count] = (struct token){ .kind = TOKEN_END, .text = text };
	return count;
}
