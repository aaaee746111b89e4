/* Building the first stack of a program: docs/formats.md, "The first stack". */
#include <string.h>
#include "user/libc/stack_image.h"

/* Add up one list: `count` pointers with its NULL, `bytes` of strings. False as
 * soon as that can't fit. */
static int list_measure(char *const list[], size_t *count, size_t *bytes)
{
	for (size_t i = 0; list[i]; i++) {
		size_t length = strlen(list[i]) + 1;

		*count += 1;
		if (length > STACK_IMAGE_MAX)
			return 0;
		*bytes += length;
		if (*bytes + 4 * *count > STACK_IMAGE_MAX)
			return 0;
	}
	*count += 1;
	return 1;
}

size_t stack_image_size(char *const argv[], char *const envp[])
{
	size_t words = 1, bytes = 0, size;

	if (!list_measure(argv, &words, &bytes) || !list_measure(envp, &words, &bytes))
		return 0;
	size = (4 * words + bytes + 15) & ~(size_t)15;
	return size <= STACK_IMAGE_MAX ? size : 0;
}

/* Copy one list: addresses to words[*word...], strings to image[*at...]. */
static void list_copy(char *image, size_t size, char *const list[], size_t *word, size_t *at)
{
	uint32_t address = 0;

	for (size_t i = 0; list[i]; i++) {
		size_t length = strlen(list[i]) + 1;

		address = STACK_IMAGE_TOP - (uint32_t)(size - *at);
		memcpy(image + 4 * (*word)++, &address, 4);
		memcpy(image + *at, list[i], length);
		*at += length;
	}
	address = 0;
	memcpy(image + 4 * (*word)++, &address, 4);
}

void stack_image_build(char *image, size_t size, char *const argv[], char *const envp[])
{
	size_t words = 1, bytes = 0, word = 1, at;
	uint32_t argc = 0;

	list_measure(argv, &words, &bytes);
	argc = (uint32_t)(words - 2);
	list_measure(envp, &words, &bytes);
	memset(image, 0, size);
	memcpy(image, &argc, 4);
	at = size - bytes;
	list_copy(image, size, argv, &word, &at);
	list_copy(image, size, envp, &word, &at);
}
