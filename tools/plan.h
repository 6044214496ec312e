/* SPDX-License-Identifier: MIT */
/* plan.h - `lazycuda plan` */
#ifndef PLAN_H
#define PLAN_H

/* As main(), with argv[0] "plan".  Returns the exit status. */
int plan_main(int argc, char **argv);

#endif
