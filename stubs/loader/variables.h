/* SPDX-License-Identifier: MIT */
/* variables.h - the real library's variables, for those who have the stub's */
#ifndef VARIABLES_H
#define VARIABLES_H

#include "open.h"

/*
 * Gives the stub's variables the values of the loaded library's, and has all objects use the
 * library's own from now on: ld.so wrote the address of the stub's into their tables.
 */
void lc_share_variables(struct lc_found *found);

#endif
