/* SPDX-License-Identifier: MIT */
/* stack.h - a stack of its own for a search, where the caller's may be small */
#ifndef STACK_H
#define STACK_H

/* Between lc_enter() and lc_leave().  Calls function(data): on the caller's stack if that is the
 * thread's own and has a MiB left, or if memory is short; else on one made for this call. */
void lc_call_with_stack(void (*function)(void *data), void *data);

#endif
