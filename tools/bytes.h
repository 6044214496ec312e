/* SPDX-License-Identifier: MIT */
/* bytes.h - parses byte counts on a command line */
#ifndef TOOL_BYTES_H
#define TOOL_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* Reads "4G", "512M", "64K" or "1000"; false for anything else, and for 0. */
bool bytes_read(const char *text, uint64_t *bytes);

#endif
