/* SPDX-License-Identifier: MIT */
/*
 * begin.c - what runs when a stub is loaded: all that there is to it
 *
 * With LAZYCUDA_EAGER=1 the library is loaded here.  This is before the constructors of what
 * needs the stub, and so where ld.so would have loaded the library that the stub stands for.
 */
#include <stdlib.h>

#include "forks.h"
#include "loader.h"
#include "settings.h"

static const char eager[] LC_AT_START = LC_EAGER_VARIABLE;

/* Few pages of code are read for it: the compiler puts it beside lc_handle_forks(). */
__attribute__((constructor)) static void begin(void)
{
	lc_handle_forks();
	lc_handle_exit();
	if (secure_getenv(eager) && lc_is_eager())
		lc_load();
}
