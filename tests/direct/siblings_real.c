/* SPDX-License-Identifier: MIT */
/* siblings_real.c - cuSPARSE of CUDA 12.9, which calls nvJitLink */
int __nvJitLinkComplete_12_9(void *handle);

int cusparseGetProperty(int type, int *value)
{
	*value = __nvJitLinkComplete_12_9(0);
	return type;
}
