/* SPDX-License-Identifier: MIT */
/* own_stub.h - opens a stub by its path, such as one that `lazycuda stub` made */
#ifndef OWN_STUB_H
#define OWN_STUB_H

#include "../stubs/loader/peers.h"

/* Loads a stub.  If it is not a stub of this release, complains as `command` and returns
 * NULL. */
const struct lc_peer *own_stub_open(const char *command, const char *path);

#endif
