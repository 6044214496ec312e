/* SPDX-License-Identifier: MIT */
/* undefined.h - the names that objects, archives and shared libraries take from others */
#ifndef UNDEFINED_H
#define UNDEFINED_H

#include <stdbool.h>
#include <stddef.h>

typedef void undefined_name(void *data, const char *name);

/*
 * Calls `each` with every name that a file leaves undefined: an ELF object or library, or an archive of
 * such, of which `bytes` has `size`, and a NUL behind them.  Returns NULL, or what is wrong, as a phrase.
 */
const char *undefined_names(const char *bytes, size_t size, undefined_name *each, void *data);

#endif
