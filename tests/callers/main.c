/* SPDX-License-Identifier: MIT */
/* main.c - a program that exports nothing, calls one function and says who answered */
#include <stdio.h>

#include <lazycuda.h>

int cudaDeviceSynchronize(void);
int cudaUnbindTexture(const void *);

int main(int argc, char **argv)
{
	const struct lazycuda_status *status;

	(void)argv;
	if (argc > 100)
		cudaUnbindTexture(0);
	cudaDeviceSynchronize();
	status = lazycuda_get_status("cudart");
	printf("%s %s\n", status->version ? status->version : "none", status->reason);
	return 0;
}
