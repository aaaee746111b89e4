/* The image of a program's first stack. Pure: also built on the host. */
#ifndef LIBC_STACK_IMAGE_H
#define LIBC_STACK_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define STACK_IMAGE_TOP	0xbffff000u	/* USER_STACK_TOP: where the image ends */
#define STACK_IMAGE_MAX	(128u << 10)	/* bytes; more is E2BIG */

/* How many bytes the image of these NULL-ended lists takes, a multiple of 16; 0 if
 * more than STACK_IMAGE_MAX. */
size_t stack_image_size(char *const argv[], char *const envp[]);

/* Write the image into image[size], size from stack_image_size() of the same
 * lists: argc, argv[], NULL, envp[], NULL, strings. Its last byte belongs at
 * STACK_IMAGE_TOP - 1, so that its first byte's address is the first esp. */
void stack_image_build(char *image, size_t size, char *const argv[], char *const envp[]);

#endif
