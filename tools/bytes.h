/* SPDX-License-Identifier: MIT */
/* bytes.h - numbers of bytes on a command line */
#ifndef TOOL_BYTES_H
#define TOOL_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* "4G", "512M", "64K" and "1000", of which none is 0; false if it is none of these. */
bool bytes_read(const char *text, uint64_t *bytes);

#endif
