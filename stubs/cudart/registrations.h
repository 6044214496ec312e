/* SPDX-License-Identifier: MIT */
/* registrations.h - nvcc's static constructors, recorded and replayed */
#ifndef REGISTRATIONS_H
#define REGISTRATIONS_H

#include <stdbool.h>

#include "../loader/peers.h"
#include "../entry/stub.h"

/* As in struct lc_specifics. */
bool lc_replay_pending(void);
void lc_replay_next(const lc_function *functions, const uint8_t *outcomes, uint64_t *held);
void lc_replay_forked(void);

/* Makes or records a call that another copy of this stub received.  Returns false if the
 * call is not about a handle of this stub.  Never dereferences a foreign handle. */
bool lc_registered(const struct lc_registration *call, uintptr_t *result);

#endif
