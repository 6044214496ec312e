/* SPDX-License-Identifier: MIT */
/* registrations.h - nvcc's static constructors, recorded and replayed */
#ifndef REGISTRATIONS_H
#define REGISTRATIONS_H

#include <stdbool.h>

#include "stub.h"

/* As in struct lc_specifics. */
bool lc_replay_pending(void);
void lc_replay_next(const lc_function *functions, const uint8_t *outcomes);

/* The library's handle for one of ours; NULL while it has none. */
void *lc_real_handle(void *handle);

#endif
