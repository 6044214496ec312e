/* SPDX-License-Identifier: MIT */
/* inspect_report.h - what an inspection found, in text and in JSON */
#ifndef INSPECT_REPORT_H
#define INSPECT_REPORT_H

#include <stdbool.h>

#include "../include/lazycuda_link.h"

/* One file for people; `all`: every entry on a line of its own.  False if memory
 * ran out, and some of it is missing. */
bool inspect_print(const struct lazycuda_inspection *inspection, bool all);

/* The same as an object of the array that is open. */
void inspect_print_json(const struct lazycuda_inspection *inspection);

#endif
