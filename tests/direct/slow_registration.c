/* SPDX-License-Identifier: MIT */
/* slow_registration.c - two threads launch a kernel that a constructor has registered */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp);
int cudaLaunchKernel(const void *kernel);

static int kernel;

static __attribute__((constructor)) void begin(void)
{
	void **handle = __cudaRegisterFatBinary(&kernel);

	__cudaRegisterFunction(handle, (char *)&kernel, "k", "k", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(handle);
}

static void *launch(void *number)
{
	usleep(100000 * (useconds_t)(uintptr_t)number);
	return (void *)(uintptr_t)cudaLaunchKernel(&kernel);
}

int main(void)
{
	pthread_t threads[2];
	void *answer;

	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, launch, (void *)i);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &answer);
		printf("%d\n", (int)(uintptr_t)answer);
	}
	return 0;
}
