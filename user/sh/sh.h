/* The small shell. Its grammar, all of it:
 *
 *	list    = and_or { (";" | "&" | newline) and_or }
 *	and_or  = command { ("&&" | "||") command }
 *	command = ["!"] { NAME=value } word...
 */
#ifndef SH_H
#define SH_H

#include <stddef.h>

enum { SH_WORDS_MAX = 128, SH_TOKENS_MAX = 512, SH_LINE_MAX = 4096 };
enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128,
       STATUS_SYNTAX = 2 };

enum token_kind { TOKEN_WORD, TOKEN_SEMI, TOKEN_AMP, TOKEN_AND, TOKEN_OR, TOKEN_NOT, TOKEN_END };

struct token {
	enum token_kind kind;
	const char     *text;		/* WORD: still quoted */
	size_t		length;
};

struct shell {
	int   status;			/* of the last command: $? */
	int   background;		/* the last background process: $! */
	int   leaving;			/* `exit` was said */
	int   interactive;
	const char *name;		/* $0 */
	char *const *arguments;		/* $1, ...; NULL-ended */
};
extern struct shell shell;

/* lex.c: cut text into tokens, the last of them TOKEN_END. How many, or -1 after a
 * message (an open quote, too many). */
int sh_tokenise(struct token tokens[SH_TOKENS_MAX], const char *text);

/* expand.c: put the word's value, without quotes and with $ replaced, as zero or more
 * fields into argv[*count...]; NUL-ended strings from malloc. 0, or -1 (too many). */
int sh_expand(const struct token *word, char **argv, int *count);
/* The same without splitting: one string from malloc. */
char *sh_expand_one(const char *text, size_t length);
/* Length of NAME if the word is NAME=value; else 0. */
size_t sh_assignment(const struct token *word);

/* run.c: run a text of one or more lines. Sets shell.status. */
void sh_run(const char *text);
/* Wait for a child; its status as $? has it, or -1. pid -1: any. */
int sh_wait(int pid);

/* builtin.c: run argv if it names a builtin: its status; -1 if it doesn't. */
int sh_builtin(int argc, char **argv);

/* ulimit.c: the builtin of that name; its status. */
int sh_ulimit(int argc, char **argv);

/* edit.c: read one line from the console into line[size]. Its length; -1 at the end
 * of input (Ctrl-D on an empty line). */
int sh_read_line(char *line, size_t size, const char *prompt);

void sh_error(const char *what, const char *why);

#endif
