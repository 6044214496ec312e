/* SPDX-License-Identifier: MIT */
/* starving.c - preloaded, for starving.py: calls during which an allocation fails */
#include "memory.h"

typedef void *make(void *, void *, void *, void *, void *);

/* What comes of a call of which allocation number `at` fails, none if -1. */
void *starved(long at, make *make, void **with, bool *failed)
{
	void *made;

	ran_out = false;
	room = at;
	made = make(with[0], with[1], with[2], with[3], with[4]);
	room = -1;
	*failed = ran_out;
	return made;
}

/* How many blocks are left of it. */
long left(long at, make *make, void **with, void (*release)(void *))
{
	const long before = live;
	bool failed;

	release(starved(at, make, with, &failed));
	return live - before;
}
