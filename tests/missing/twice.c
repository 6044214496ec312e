/* SPDX-License-Identifier: MIT */
/* twice.c - calls that fail, and a thousand more, between markers */
#include <string.h>
#include <unistd.h>

#ifdef DRIVER
int cuCtxSynchronize(void), nvmlShutdown(void);
# define CALLS() (cuCtxSynchronize(), nvmlShutdown())
#else
int cudaDeviceSynchronize(void), cudaGetLastError(void);
# define CALLS() (cudaDeviceSynchronize(), cudaGetLastError())
#endif

static void mark(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		_exit(1);
}

int main(void)
{
	mark("first");
	CALLS();
	mark("second");
	for (int i = 0; i < 1000; i++)
		CALLS();
	mark("end");
	return 0;
}
