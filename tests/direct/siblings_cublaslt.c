/* SPDX-License-Identifier: MIT */
/* siblings_cublaslt.c - cublasLt of CUDA 12.0, and with NEWEST of 12.9 */
unsigned long cublasLtGetVersion(void)
{
#ifdef NEWEST
	return 12900;
}

int newest(void)
{
	return 129;
#else
	return 12000;
#endif
}
