/* SPDX-License-Identifier: MIT */
/* To be preloaded, with the version node of a library or none: functions of it, the names of which are
 * in NAMES, each of which asks for the next. */
#define _GNU_SOURCE
#include <dlfcn.h>

typedef long function(long, long, long, long, long, long, long, long);

#define HOOK(name) \
	long name(long a, long b, long c, long d, long e, long f, long g, long h); \
	long name(long a, long b, long c, long d, long e, long f, long g, long h) \
	{ \
		function *next = (function *)dlsym(RTLD_NEXT, #name); \
		return next ? next(a, b, c, d, e, f, g, h) : -1; \
	}

#include NAMES
