/* SPDX-License-Identifier: MIT */
/* siblings_cublas.c - cuBLAS, which calls what only the cublasLt has that is installed with it */
int newest(void);

int cublasGetProperty(int type, int *value)
{
	*value = newest();
	return type;
}
