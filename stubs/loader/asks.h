/* SPDX-License-Identifier: MIT */
/* asks.h - asks a library which CUDA it was made with */
#ifndef ASKS_H
#define ASKS_H

#include "search.h"

/* Asks those that are in a folder of the CUDA `common`, before the process takes that although
 * libraries of another are there.  Returns true if one belongs to another. */
bool lc_ask_in_folders(struct lc_arena *arena, struct lc_search *search, int common);

/* Asks those libraries that could be loaded for this stub, after a choice that took none of them, and
 * notes each that says that it belongs to the CUDA `common`, or, if that is 0, to any.  Returns true if
 * one does.  Calls the dynamic loader and the library: hold no lock. */
bool lc_ask_libraries(struct lc_arena *arena, struct lc_search *search, int common);

#endif
