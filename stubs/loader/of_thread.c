/* SPDX-License-Identifier: MIT */
/* of_thread.c - a stub's thread-local variables */
#include "of_thread.h"

LC_THREAD struct lc_of_thread lc_of_thread = { .ready = true };
