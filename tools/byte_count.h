/* SPDX-License-Identifier: MIT */
/* byte_count.h - parses byte counts on a command line */
#ifndef BYTE_COUNT_H
#define BYTE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Reads "4G", "512M", "64K" or "1000"; false for anything else, and for 0. */
bool bytes_read(const char *text, uint64_t *bytes);

#endif
