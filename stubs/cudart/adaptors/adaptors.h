/* SPDX-License-Identifier: MIT */
/* adaptors.h - all adaptors; each has the prototype of the slot it stands in */
#ifndef ADAPTORS_H
#define ADAPTORS_H

#include "generated/libcudart_stub.h"

/* The adaptors for slots that the library cannot fill: the rows of rows.h. */
extern const struct lc_adaptor lc_adaptors[] LC_HIDDEN;

#define SERVE_ROW(slot, needs, function) LC_SHARED __typeof__(*lc_slots.slot) lc_adapt_##function;
#include "rows.h"
#undef SERVE_ROW

#endif
