/* SPDX-License-Identifier: MIT */
/* A cuDNN for CUDA 12. */
#include <stddef.h>

size_t cudnnGetCudartVersion(void);

size_t cudnnGetCudartVersion(void)
{
	return 12020;
}
