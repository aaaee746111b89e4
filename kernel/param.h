/*
 * Kernel parameters: "name=value" on the kernel's command line.
 *
 * A parameter is declared beside the variable it sets, in the file that uses
 * it. All of them are listed in the report of a run under `config`. An unknown
 * name or a value out of range is reported in words at boot and named in the
 * log; the boot goes on with the default.
 */
#ifndef KERNEL_PARAM_H
#define KERNEL_PARAM_H

#include "kernel/types.h"

enum param_kind { PARAM_KIND_U32, PARAM_KIND_STRING };

struct param {
	const char     *name;
	enum param_kind kind;
	void	       *value;		/* uint32_t * or char[max] */
	uint32_t	min, max;	/* of a string, max is its bytes */
};

enum { PARAM_STRING_BYTES = 64 };

#define PARAM_SECTION __attribute__((section(".params"), used, aligned(4)))

/* PARAM_U32(swap_steal, "swap.steal", 1, 0, 1); makes `static uint32_t swap_steal`. */
#define PARAM_U32(var, param_name, dflt, lo, hi)			\
	static uint32_t var = (dflt);					\
	static const struct param param_##var PARAM_SECTION =		\
		{ param_name, PARAM_KIND_U32, &var, lo, hi }

/* The value is cut at PARAM_STRING_BYTES - 1. */
#define PARAM_STRING(var, param_name, dflt)				\
	static char var[PARAM_STRING_BYTES] = dflt;			\
	static const struct param param_##var PARAM_SECTION =		\
		{ param_name, PARAM_KIND_STRING, var, 0, PARAM_STRING_BYTES }

/* A string that is "" until it is set, and cut at `bytes` - 1. */
#define PARAM_LIST(var, param_name, bytes)				\
	static char var[bytes];						\
	static const struct param param_##var PARAM_SECTION =		\
		{ param_name, PARAM_KIND_STRING, var, 0, bytes }

/* Set every parameter named in `cmdline`. Called once, before anything that reads one. */
void param_parse(const char *cmdline);

/* All parameters as "name value" lines in to[size], ended by NUL. Returns the bytes
 * written, at most `size`. */
size_t param_text(char *to, size_t size);

/* Write all parameters to the report as "@config NAME VALUE". */
void param_report(void);

#endif
