/* SPDX-License-Identifier: MIT */
/* An exit handler that was registered after the library's first call gives a handle back. */
#include "handle.h"

#include <stdlib.h>

int main(void)
{
	int result = make_handle();

	atexit(destroy_handle);
	return result;
}
