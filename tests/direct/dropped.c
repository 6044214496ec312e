/* SPDX-License-Identifier: MIT */
/* An extension that calls what CUDA 13 has dropped. */
#include <stdio.h>
#include <string.h>

int cudaSetDoubleForDevice(double *value);
const char *cudaGetErrorString(int error);
int begin(void);

int begin(void)
{
	double value = 0;
	int status = cudaSetDoubleForDevice(&value);

	printf("%d%s\n", status, !status ? "" :
	       strstr(cudaGetErrorString(status), "LAZYCUDA_MAJOR=12") ? ": says what would help" :
	       ": says nothing that helps");
	return fflush(stdout);
}
