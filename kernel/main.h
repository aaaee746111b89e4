/* Where C begins. */
#ifndef KERNEL_MAIN_H
#define KERNEL_MAIN_H

#include "kernel/types.h"

void kernel_main(uint32_t magic, uint32_t info);

#endif
