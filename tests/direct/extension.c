/* SPDX-License-Identifier: MIT */
/* An extension that is given its handle and gives it back when its Python says so. */
#include "handle.h"

int begin(void);
void end(void);

int begin(void)
{
	return make_handle();
}

void end(void)
{
	destroy_handle();
}
