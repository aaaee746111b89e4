/* Line editing on the raw console: echo, backspace, Ctrl-U and Ctrl-C (drop the
 * line), Ctrl-D (end of input on an empty line). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "user/sh/sh.h"

enum { KEY_CTRL_C = 3, KEY_CTRL_D = 4, KEY_BACKSPACE = 8, KEY_CTRL_U = 21, KEY_ESCAPE = 27,
       KEY_DELETE = 127 };

static void put(const char *s, size_t n)
{
	write(STDOUT_FILENO, s, n);
}

static void erase(size_t n)
{
	while (n-- > 0)
		put("\b \b", 3);
}

/* Swallow what an arrow or function key sends: ESC [ ... letter. */
static void skip_escape(void)
{
	char c;

	if (read(STDIN_FILENO, &c, 1) != 1 || (c != '[' && c != 'O'))
		return;
	while (read(STDIN_FILENO, &c, 1) == 1 && (c < '@' || c > '~'))
		continue;
}

int sh_read_line(char *line, size_t size, const char *prompt)
{
	size_t length = 0;
	char c;

	put(prompt, strlen(prompt));
	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\r' || c == '\n') {
			put("\n", 1);
			line[length] = '\0';
			return (int)length;
		}
		if (c == KEY_CTRL_D && length == 0)
			break;
		if ((c == KEY_BACKSPACE || c == KEY_DELETE) && length > 0) {
			length--;
			erase(1);
		} else if (c == KEY_CTRL_U) {
			erase(length);
			length = 0;
		} else if (c == KEY_CTRL_C) {
			put("^C\n", 3);
			put(prompt, strlen(prompt));
			length = 0;
		} else if (c == KEY_ESCAPE) {
			skip_escape();
		} else if ((unsigned char)c >= ' ' && c != KEY_DELETE && length + 1 < size) {
			line[length++] = c;
			put(&c, 1);
		}
	}
	put("\n", 1);
	return -1;
}
