/* SPDX-License-Identifier: MIT */
/* Needs a library, and looks up a function of one that this library needs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int cublasGetProperty(int type, int *value);

int main(void)
{
	int value = 0;

	cublasGetProperty(0, &value);
	puts(dlsym(RTLD_DEFAULT, "cublasLtGetVersion") ? "there" : "not there");
	return 0;
}
