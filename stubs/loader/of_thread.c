/* SPDX-License-Identifier: MIT */
/* of_thread.c - what each thread has of its own in a stub */
#include "of_thread.h"

LC_THREAD struct lc_of_thread lc_of_thread = { .ready = true };
