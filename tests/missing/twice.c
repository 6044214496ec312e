/* SPDX-License-Identifier: MIT */
/* twice.c - a call that fails, and a thousand more, between markers */
#include <string.h>
#include <unistd.h>

int cudaDeviceSynchronize(void), cudaGetLastError(void);

static void mark(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		_exit(1);
}

int main(void)
{
	mark("first");
	cudaDeviceSynchronize();
	mark("second");
	for (int i = 0; i < 1000; i++) {
		cudaDeviceSynchronize();
		cudaGetLastError();
	}
	mark("end");
	return 0;
}
