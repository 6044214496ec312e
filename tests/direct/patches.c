/* SPDX-License-Identifier: MIT */
/* patches.c - writes a hook into the code of a function, as Frida does: where that begins with a jump,
 * into the code to which it leads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int cudaGetDeviceCount(int *count);
int cudaRuntimeGetVersion(int *version);

static int hook(int *version)
{
	*version = 1;
	return 0;
}

#ifdef __x86_64__
static int patch(unsigned char *code)
{
	unsigned char jump[14] = { 0xff, 0x25 };	/* to the address behind it */
	int (*to)(int *) = hook;
	int32_t offset;

	memcpy(jump + 6, &to, sizeof(to));
	if (!memcmp(code, jump, 2)) {
		memcpy(&offset, code + 2, sizeof(offset));
		memcpy(&code, code + 6 + offset, sizeof(code));
	}
	if (mprotect((void *)((uintptr_t)code & ~(uintptr_t)4095), 8192,
		     PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	memcpy(code, jump, sizeof(jump));
	return 0;
}
#else
static int patch(unsigned char *code)
{
	(void)code;
	(void)hook;
	puts("the jumps are those of x86-64");
	return 77;
}
#endif

int main(void)
{
	int count, version = 0, failed = patch(dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"));

	if (failed)
		return failed;
	cudaGetDeviceCount(&count);
	cudaRuntimeGetVersion(&version);
	printf("%d\n", version);
	return 0;
}
