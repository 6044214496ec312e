/* SPDX-License-Identifier: MIT */
/* plan_report.h - prints a plan as text or JSON */
#ifndef PLAN_REPORT_H
#define PLAN_REPORT_H

#include "link_arguments.h"

void plan_print(const struct link_arguments *arguments, const struct lazycuda_plan *plan);
void plan_print_json(const struct link_arguments *arguments, const struct lazycuda_plan *plan);

/* Writes the plan into an open JSON object. */
void plan_json(const struct link_arguments *arguments, const struct lazycuda_plan *plan);

/* Writes the object "environment": the versions that count as installed. */
void plan_json_environment(const struct link_arguments *arguments);

/* Writes a version as text, "none" or "12.9"; null if it is unknown. */
void plan_json_version(const char *key, int version);

#endif
