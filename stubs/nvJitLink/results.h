/* SPDX-License-Identifier: MIT */
/* nvjitlink_results.h - nvJitLink's result codes between 12 and 13 */
#ifndef NVJITLINK_RESULTS_H
#define NVJITLINK_RESULTS_H

#include "stub.h"

/* As in struct lc_specifics. */
extern const struct lc_adaptor lc_result_adaptors[] LC_HIDDEN;

#endif
