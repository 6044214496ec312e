/* SPDX-License-Identifier: MIT */
/* hello-cuda.c - what a package that depends on lazycuda's packages calls */
#include <stdio.h>

/* What cuda_runtime.h and cublas_v2.h declare. */
int cudaRuntimeGetVersion(int *version);
int cublasCreate_v2(void **handle);

int main(void)
{
	void *handle;
	int version, runtime = cudaRuntimeGetVersion(&version), blas = cublasCreate_v2(&handle);

	printf("cudart %d, cublas %d\n", runtime, blas);
	return 0;
}
