/* SPDX-License-Identifier: MIT */
/* report.h - what a status says of an attempt */
#ifndef REPORT_H
#define REPORT_H

#include "attempt.h"

/* Fills a status, in the attempt's arena, which may fail. */
void lc_report(struct lc_attempt *attempt, struct lazycuda_status *status);

#endif
