/* SPDX-License-Identifier: MIT */
/* lazy_binding.c - calls another function of that runtime */
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);

int main(void)
{
	int version = 0, result = cudaRuntimeGetVersion(&version);

	printf("%d %d\n", result, version);
	return 0;
}
