/*
 * The image of a first stack, read back as the program that starts on it would.
 * links: user/libc/stack_image.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "user/libc/stack_image.h"

enum { LISTS = 2000 };

static int cases, failed;
static char image[STACK_IMAGE_MAX];

static void tap(int ok, const char *name, const char *text)
{
	cases++;
	failed += !ok;
	printf("%sok %d %s  %s\n", ok ? "" : "not ", cases, name, text);
}

static uint32_t word(size_t n)
{
	uint32_t w;

	memcpy(&w, image + 4 * n, 4);
	return w;
}

/* The string at address `a` of the stack, or NULL if it isn't all inside the image. */
static const char *string_at(uint32_t a, size_t size)
{
	uint32_t base = STACK_IMAGE_TOP - (uint32_t)size;

	if (a < base || a >= STACK_IMAGE_TOP || !memchr(image + (a - base), 0, STACK_IMAGE_TOP - a))
		return NULL;
	return image + (a - base);
}

static int list_reads_back(char *const list[], size_t *at, size_t size)
{
	for (; *list; list++) {
		const char *s = string_at(word((*at)++), size);

		if (!s || strcmp(s, *list) != 0)
			return 0;
	}
	return word((*at)++) == 0;
}

static int reads_back(char *const argv[], char *const envp[])
{
	size_t size = stack_image_size(argv, envp), at = 1, argc = 0;

	while (argv[argc])
		argc++;
	if (size == 0 || size % 16 != 0 || size > sizeof(image))
		return 0;
	memset(image, 0xee, sizeof(image));
	stack_image_build(image, size, argv, envp);
	return word(0) == argc && list_reads_back(argv, &at, size) &&
		list_reads_back(envp, &at, size) && (unsigned char)image[size % sizeof(image)] ==
		(size == sizeof(image) ? (unsigned char)image[0] : 0xee);
}

static int random_lists(void)
{
	static char words[20][40];
	char *argv[11], *envp[11];
	int ok = 1;

	for (int round = 0; round < LISTS; round++) {
		int a = rand() % 11, e = rand() % 11;

		for (int i = 0; i < 20; i++) {
			int n = rand() % 39;

			memset(words[i], 'a' + rand() % 26, (size_t)n);
			words[i][n] = '\0';
		}
		for (int i = 0; i < a; i++)
			argv[i] = words[i];
		for (int i = 0; i < e; i++)
			envp[i] = words[10 + i - (i == 10)];
		argv[a < 10 ? a : 10] = NULL;
		envp[e < 10 ? e : 10] = NULL;
		ok &= reads_back(argv, envp);
	}
	return ok;
}

int main(void)
{
	static char big[STACK_IMAGE_MAX];
	char *none[] = { NULL }, *two[] = { "sh", "", NULL }, *env[] = { "A=b", NULL };
	char *one[] = { big, NULL };
	const char *seed = getenv("SEED");

	srand(seed ? (unsigned)atoi(seed) : 1);
	tap(reads_back(none, none), "host-stack-01", "no arguments, no environment");
	tap(reads_back(two, env), "host-stack-02", "an empty argument is one");
	tap(random_lists(), "host-stack-03", "random lists read back");
	memset(big, 'x', sizeof(big) - 1);
	tap(stack_image_size(one, none) == 0, "host-stack-04", "128 KiB of argument are too much");
	big[STACK_IMAGE_MAX - 17] = '\0';
	tap(stack_image_size(one, none) == STACK_IMAGE_MAX && reads_back(one, none),
	    "host-stack-05", "the longest that fits, fits");
	big[STACK_IMAGE_MAX - 17] = 'x';
	big[STACK_IMAGE_MAX - 16] = '\0';
	tap(stack_image_size(one, none) == 0, "host-stack-06", "one byte more doesn't");
	printf("1..%d\n", cases);
	return failed != 0;
}
