/* SPDX-License-Identifier: MIT */
/*
 * adaptor.h - calls across a difference of interface
 *
 * An adaptor stands in a slot that the loaded library cannot fill.  It has the
 * slot's prototype, which is the caller's, and calls another slot, which the
 * library does fill.  rows.h has the table of adaptors.  If a call's meaning
 * cannot be kept, the adaptor refuses the call, as the slot itself would have been
 * refused.
 *
 * Slots are named after the oldest major whose callers use them:
 * cudaMemAdvise_11 is the interface of 11 and 12, cudaMemAdvise_13 that of 13.
 */
#ifndef ADAPTOR_H
#define ADAPTOR_H

#include <stdbool.h>
#include <string.h>

#include "../../loader/errors.h"
#include "generated/libcudart_stub.h"
#include "generated/libcudart_stub.layouts.h"
#include "../../entry/layout.h"

/* For functions that have a twin for the per-thread default stream: applies X,
 * which puts its argument `suffix` into names, for both. */
#define LC_BOTH(X) X() X(_ptsz)

/* Refuses this one call of a slot; `reason` says what in the call is to blame. */
#define LC_REFUSE(slot, reason) lc_refuse_because(LC_SLOT_##slot, LC_REFUSED, reason)

#define LC_LOST "it says something that this CUDA's smaller struct has no room for"

/* Refuses the call with a status that the function itself may return, such as that of a driver
 * function which the adaptor called: cudaGetLastError() has to know it as well. */
#define LC_FAIL(slot, status, reason) \
	lc_refuse_with(LC_SLOT_##slot, LC_REFUSED, status, reason)

/* Statuses that adaptors return themselves: cudaErrorInvalidValue, cudaErrorMemoryAllocation and
 * cudaErrorSymbolNotFound. */
enum { LC_INVALID_VALUE = 1, LC_NO_MEMORY = 2, LC_SYMBOL_NOT_FOUND = 500 };

#endif
