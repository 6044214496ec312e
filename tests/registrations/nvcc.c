/* SPDX-License-Identifier: MIT */
/*
 * nvcc.c - what nvcc makes of a file with a kernel and a variable, by hand
 *
 * A static constructor registers the fat binary, the kernel and the variable;
 * an exit handler unregisters it.  TAG tells several of them apart: it is the
 * address that the fakes' log shows for the fat binary.  FAT: an empty but well-formed one, which
 * a real runtime accepts.  OWN: it is part of the file and goes with it, as large as this, so that
 * nothing else is on its pages.  TEXTURE: what CUDA 11 registers besides.
 */
#include <stddef.h>
#include <stdlib.h>

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int);
int cudaDeviceSynchronize(void);

#ifdef FAT
static const struct { unsigned magic; unsigned short version, header; unsigned long long size; }
	contents = { 0xba55ed50, 1, 16, 0 };
static const struct { int magic, version; const void *data; void *filename; }
	wrapper = { 0x466243b1, 1, &contents, NULL };
# define TAG ((long)&wrapper)
#endif

#ifdef OWN
static char own[OWN] = { 1 };
# define TAG ((long)(own + OWN / 2))
#endif

static void **handle;

/* nvcc's code does this in an exit handler; the thread sanitizer calls those of a library
 * that is closed when it is gone. */
#ifdef __SANITIZE_THREAD__
# define atexit(handler) (void)(handler)
__attribute__((destructor))
#endif
static void unregister(void)
{
	__cudaUnregisterFatBinary(handle);
}

static __attribute__((constructor)) void enregister(void)
{
	handle = __cudaRegisterFatBinary((void *)(TAG + 0L));
#ifdef FAT
	__cudaRegisterFunction(handle, (char *)&handle, "kernel", "kernel", -1, NULL, NULL, NULL, NULL,
			       NULL);
#else
	__cudaRegisterFunction(handle, (char *)(TAG + 1L), (char *)(TAG + 2L), (char *)(TAG + 3L), -1,
			       NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(handle, (char *)(TAG + 4L), (char *)(TAG + 5L), (char *)(TAG + 6L), 0,
			  TAG + 7L, 1, 0);
	__cudaRegisterManagedVar(handle, (void **)(TAG + 8L), (char *)(TAG + 9L),
				 (char *)(TAG + 10L), 0, TAG + 11L, 0, 0);
#endif
#ifdef TEXTURE
	__cudaRegisterTexture(handle, NULL, NULL, "texture", 2, 0, 0);
#endif
#ifdef CALL_AT_START
	cudaDeviceSynchronize();
#endif
	__cudaRegisterFatBinaryEnd(handle);
	atexit(unregister);
}

int user_init(void);
int user_init(void)
{
	return __cudaInitModule(handle);
}

int user_call(void);
int user_call(void)
{
	return cudaDeviceSynchronize();
}
