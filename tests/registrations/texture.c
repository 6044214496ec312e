/* SPDX-License-Identifier: MIT */
/* texture.c - an object of CUDA 11 that registers a texture reference */
#include <stddef.h>

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int);
int cudaDeviceSynchronize(void);

static __attribute__((constructor)) void enregister(void)
{
	void **handle = __cudaRegisterFatBinary((void *)0x1000);
	__cudaRegisterTexture(handle, NULL, NULL, "texture", 2, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
}

int user_call(void);
int user_call(void)
{
	return cudaDeviceSynchronize();
}
