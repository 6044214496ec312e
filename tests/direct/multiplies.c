/* SPDX-License-Identifier: MIT */
/* A plugin that asks cuBLAS something. */
int cublasGetProperty(int type, int *value);
int begin(void);

int begin(void)
{
	int value;

	return cublasGetProperty(0, &value);
}
