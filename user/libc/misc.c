/* The rest of newlib's system side. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/utsname.h>
#include <clockhand.h>

/* The value of parameter seed= in the kernel's list; 0 if it can't be had. */
static uint32_t kernel_seed(void)
{
	char text[4096];
	int n = sys_sysinfo(SYSINFO_PARAMS, text, sizeof(text) - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return (uint32_t)counter_find(text, "seed");
}

/*
 * Randomness that repeats with the run: xorshift (Marsaglia, "Xorshift RNGs", 2003,
 * triple 13, 17, 5) started from seed= and the process. Nothing here is a secret;
 * the machine has no source of one.
 */
int getentropy(void *buffer, size_t bytes)
{
	static uint32_t state;
	unsigned char *to = buffer;

	if (bytes > 256)
		return libc_result(-EIO);
	if (state == 0)
		state = kernel_seed() * 2654435761u ^ (uint32_t)getpid() << 16 ^ 0x9e3779b9u;
	if (state == 0)
		state = 1;
	for (size_t i = 0; i < bytes; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		to[i] = (unsigned char)(state >> 24);
	}
	return 0;
}

uint64_t counter_find(const char *text, const char *name)
{
	size_t length = strlen(name);

	while (*text) {
		if (strncmp(text, name, length) == 0 && text[length] == ' ')
			return strtoull(text + length + 1, NULL, 10);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return 0;
}

int uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->sysname, "Clockhand");
	strcpy(name->nodename, "clockhand");
	strcpy(name->release, "1");
	strcpy(name->version, "1");
	strcpy(name->machine, "i386");
	return 0;
}

long sysconf(int name)
{
	struct abi_memory memory;

	switch (name) {
	case _SC_PAGESIZE:
		return (long)CLOCKHAND_PAGE;
	case _SC_CLK_TCK:
		return CLOCKS_PER_SEC;
	case _SC_OPEN_MAX:
		return HANDLE_FD_MAX;
	case _SC_NPROCESSORS_ONLN:
	case _SC_NPROCESSORS_CONF:
		return 1;
	case _SC_PHYS_PAGES:
		if (sys_sysinfo(SYSINFO_MEMORY, &memory, sizeof(memory)) < 0)
			return -1;
		return (long)memory.total;
	default:
		return libc_result(-EINVAL);
	}
}
