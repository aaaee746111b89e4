/* From the first stack to main() and exit(). */
#include <stdlib.h>
#include <clockhand.h>

extern char **environ;
void __libc_init_array(void);
void __libc_fini_array(void);
int main(int argc, char **argv, char **envp);
void libc_start(uint32_t *stack) __attribute__((noreturn));

void libc_start(uint32_t *stack)
{
	int argc = (int)stack[0];
	char **argv = (char **)(stack + 1);

	environ = argv + argc + 1;
	atexit(__libc_fini_array);
	__libc_init_array();
	exit(main(argc, argv, environ));
}
