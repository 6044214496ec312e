/* SPDX-License-Identifier: MIT */
/* strings.c - error strings belong to the library and stay valid, also when the
 * library turns up meanwhile; argv[1] is one to load */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaDeviceSynchronize(void), cudaFree(void *);
const char *cudaGetErrorString(int), *cudaGetErrorName(int);

int main(int argc, char **argv)
{
	cudaDeviceSynchronize();
	const char *text = cudaGetErrorString(303), *name = cudaGetErrorName(303);
	char *copies[] = { strdup(text), strdup(name) };

	cudaFree(NULL);
	cudaGetErrorString(303);
	if (argc < 2 || !dlopen(argv[1], RTLD_NOW))
		return 1;
	cudaDeviceSynchronize();
	cudaGetErrorString(303);
	puts(strcmp(text, copies[0]) || strcmp(name, copies[1]) ? "changed" : "same");
	free(copies[0]);
	free(copies[1]);
	return 0;
}
