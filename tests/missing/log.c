/* SPDX-License-Identifier: MIT */
/* log.c - ask nvJitLink for its error log where there is no nvJitLink */
#include <stdio.h>
#include <string.h>

int nvJitLinkCreate(void **, unsigned, const char **);
int nvJitLinkGetErrorLogSize(void *, size_t *);
int nvJitLinkGetErrorLog(void *, char *);

int main(void)
{
	static char log[65536];
	void *handle;
	size_t size = 0;
	int created = nvJitLinkCreate(&handle, 0, NULL);
	int sized = nvJitLinkGetErrorLogSize(handle, &size);
	memset(log, 0x5a, sizeof log);
	int got = nvJitLinkGetErrorLog(handle, log);
	int intact = size < sizeof log && log[size] == 0x5a && log[size - 1] == 0 &&
		     strlen(log) + 1 == size;

	printf("%d %d %zu %d %s\n%s\n", created, sized, size, got, intact ? "intact" : "spoilt", log);
	return 0;
}
