/* SPDX-License-Identifier: MIT */
/* one.c - a program that makes one call with a device; for first.c */
#include <cuda_runtime_api.h>
#include <stddef.h>

int main(void)
{
	return cudaFree(NULL) != 0;
}
