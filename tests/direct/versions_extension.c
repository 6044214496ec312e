/* SPDX-License-Identifier: MIT */
/* The same in an extension. */
#include "versions.h"

int begin(void);

int begin(void)
{
	return print_versions();
}
