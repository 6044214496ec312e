/* SPDX-License-Identifier: MIT */
/* left_out.h - what was not searched, or in vain, and why */
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include "attempt.h"

/* Numbers of a status's folders that are left out, one kind behind the other. */
struct lc_left_out {
	size_t by_hand;		/* a variable names them that users set for this, and in vain */
	size_t searched;	/* the search left them out */
	/* The rest are those that other variables name in vain. */
};

/* Sets what the status says is left out; what variables name in vain only if nothing is usable. */
struct lc_left_out lc_list_left_out(struct lc_attempt *attempt, struct lazycuda_status *status);

/* "libcudart.so.13, libcudart.so.12 or libcudart.so.11.0" */
const char *lc_wanted(struct lc_arena *arena, const struct lc_library *library);

#endif
