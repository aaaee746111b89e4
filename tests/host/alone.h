/*
 * For a unit of kernel/ that is tested without the shim: a panic ends the program, and results are
 * printed as TAP. Included by one file of a program.
 */
#ifndef ALONE_H
#define ALONE_H

#include "kernel/panic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int test, failures;

void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	abort();
}

static void check(bool ok, const char *name, const char *sentence)
{
	failures += !ok;
	printf("%s %d %s %s\n", ok ? "ok" : "not ok", ++test, name, sentence);
}

#endif
