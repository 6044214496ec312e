/* SPDX-License-Identifier: MIT */
/* inspect_report.h - prints an inspection as text or JSON */
#ifndef INSPECT_REPORT_H
#define INSPECT_REPORT_H

#include <stdbool.h>

#include "../include/lazycuda_link.h"

/* Prints one file as text, with `all` one line per entry.  Returns false on allocation
 * failure, when some of the text is missing. */
bool inspect_print(const struct lazycuda_inspection *inspection, bool all);

/* Prints one file as an object in the open JSON array. */
void inspect_print_json(const struct lazycuda_inspection *inspection);

#endif
