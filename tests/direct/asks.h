/* SPDX-License-Identifier: MIT */
/* asks.h - asks a library something: by the function ASKS, and by SECOND if there is one */
#ifndef ASKS_H
#define ASKS_H

#include <stddef.h>

/* Two calls that need no driver. */
#ifndef ASKS
# define ASKS cudaRuntimeGetVersion
# define SECOND cudaDriverGetVersion
#endif
#ifndef ARGUMENTS
# define ARGUMENTS out, out + 1
#endif

/* Returns what it says, a major and a minor as one number; or below 0 what it returned. */
#define ASK(name, function, ...) \
	int function(void *, void *); \
	static inline int name(void) \
	{ \
		int out[2] = { 0, 0 }, status = function(__VA_ARGS__); \
		return status ? -status : out[1] ? 1000 * out[0] + 10 * out[1] : out[0]; \
	}

ASK(ask, ASKS, ARGUMENTS)
#ifdef SECOND
ASK(ask_second, SECOND, out, out + 1)
#endif

#endif
