/* SPDX-License-Identifier: MIT */
/* siblings_real.c - a library that calls what only the one has that is installed with it: cuSPARSE of
 * CUDA 12.9 nvJitLink, or cuBLAS cublasLt */
int CALLS(void *handle);

int PROPERTY(int type, int *value)
{
	*value = CALLS(0);
	return type;
}
