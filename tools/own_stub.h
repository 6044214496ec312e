/* SPDX-License-Identifier: MIT */
/* own_stub.h - a stub that a user names by its path, one of `lazycuda stub` say */
#ifndef OWN_STUB_H
#define OWN_STUB_H

#include "../stubs/loader/peers.h"

/* Loads it; NULL: it is no stub of this release, which was said in the name of `command`. */
const struct lc_peer *own_stub_open(const char *command, const char *path);

#endif
