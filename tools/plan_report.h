/* SPDX-License-Identifier: MIT */
/* plan_report.h - a decision, in words and in JSON */
#ifndef PLAN_REPORT_H
#define PLAN_REPORT_H

#include "link_arguments.h"

void plan_print(const struct link_arguments *arguments, const struct lazycuda_plan *plan);
void plan_print_json(const struct link_arguments *arguments, const struct lazycuda_plan *plan);

/* The same into an object that is open. */
void plan_json(const struct link_arguments *arguments, const struct lazycuda_plan *plan);

/* What is installed, as an object of that name. */
void plan_json_environment(const struct lazycuda_environment *environment);

#endif
