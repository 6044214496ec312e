/* SPDX-License-Identifier: MIT */
/* results.h - nvJitLink's result codes between 12 and 13 */
#ifndef NVJITLINK_RESULTS_H
#define NVJITLINK_RESULTS_H

#include "../entry/stub.h"

/* As in struct lc_specifics. */
extern const struct lc_adaptor lc_result_adaptors[] LC_HIDDEN;

#endif
