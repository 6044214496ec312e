/* SPDX-License-Identifier: MIT */
/* stays.c - what was returned before stays as it was after the state changes */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <lazycuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaDeviceSynchronize(void);
const char *cudaGetErrorString(int), *cudaGetErrorName(int);

int main(int argc, char **argv)
{
	cudaDeviceSynchronize();
	const struct lazycuda_status *missing = lazycuda_get_status("cudart");
	const struct lazycuda_error *error = lazycuda_get_error("cudart");
	struct lazycuda_status before = *missing;
	char *reason = strdup(missing->reason), *message = strdup(error->message);
	const char *text = cudaGetErrorString(303), *name = cudaGetErrorName(303);
	char *texts[] = { strdup(text), strdup(name) };

	if (before.state != LAZYCUDA_STATE_MISSING || argc < 2 || !dlopen(argv[1], RTLD_NOW))
		return 1;
	cudaDeviceSynchronize();
	cudaGetErrorString(303);
	if (lazycuda_get_status("cudart")->state != LAZYCUDA_STATE_USABLE)
		return 2;
	puts(memcmp(&before, missing, sizeof before) || strcmp(reason, missing->reason) ||
	     strcmp(message, error->message) || strcmp(text, texts[0]) || strcmp(name, texts[1]) ?
	     "changed" : "same");
	free(reason);
	free(message);
	free(texts[0]);
	free(texts[1]);
	return 0;
}
