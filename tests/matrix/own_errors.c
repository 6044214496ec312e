/* SPDX-License-Identifier: MIT */
/* own_errors.c - errors that adaptors return by themselves: prints what the call returned, and
 * what cudaGetLastError() says then and the time after */
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

int cudaGetLastError(void);
int CALL(PARAMETERS);

int main(void)
{
	struct rlimit limit = { 1UL << 30, 1UL << 30 };
	int error;

	cudaGetLastError();	/* the library is loaded while there is memory */
	setrlimit(RLIMIT_AS, &limit);
	error = CALL(ARGUMENTS);
	printf("%d %d ", error, cudaGetLastError());
	printf("%d\n", cudaGetLastError());
	return 0;
}
