/* SPDX-License-Identifier: MIT */
/*
 * stack.h - a search has a stack of its own where the caller's may be small
 *
 * A call of the real library may need a few hundred bytes of stack, and a program may make it in a
 * coroutine or on a signal stack of 4 KiB.  A search, dlopen() and the constructors of the
 * library need more, which the program would have had at its start.
 */
#ifndef STACK_H
#define STACK_H

/* Between lc_enter() and lc_leave().  Calls function(data): on the caller's stack if that is the
 * thread's own and has a MiB left, or if memory is short; else on one made for this call. */
void lc_call_with_stack(void (*function)(void *data), void *data);

#endif
