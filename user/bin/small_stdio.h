/*
 * Included ahead of every system program: printing goes through newlib's
 * integer-only family, which is a third of the size and never touches the FPU.
 */
#ifndef BIN_SMALL_STDIO_H
#define BIN_SMALL_STDIO_H

#include <stdio.h>

#define printf	 iprintf
#define fprintf	 fiprintf
#define sprintf	 siprintf
#define snprintf sniprintf
#define vfprintf vfiprintf

#endif
