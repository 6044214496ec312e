/* SPDX-License-Identifier: MIT */
/* Asks the runtime for versions. */
#include "versions.h"

int main(void)
{
	return print_versions();
}
