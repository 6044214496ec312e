/* SPDX-License-Identifier: MIT */
/*
 * fake.c - the body of every fake CUDA library
 *
 * fakes.py writes a file of FAKE(name, answer) lines, one for each name that
 * the library exports, and compiles it with this one.  Every function answers
 * its number, and appends a line to the file that FAKE_LOG names:
 *
 *     libcudart.so.12 12.9 cudaMalloc 1 2 3 4 5 6 = 1234
 *
 * with its first six arguments in hexadecimal.  The few functions that a stub
 * or a test expects something of do just that.  A program that exports
 * fake_called() is told of each call first, and may do as it likes there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef BROKEN
#define BROKEN 0	/* functions that tell the version fail; all of a driver do */
#endif

extern __attribute__((weak)) void fake_called(const char *name, const long *arguments);

static __thread int last_error;
static int devices = 1;

static void write_log(const char *name, const long *a, long answer)
{
	const char *path = getenv("FAKE_LOG");
	char line[512];
	int length, fd;

	if (!path)
		return;
	length = snprintf(line, sizeof line, "%s %d.%d %s %lx %lx %lx %lx %lx %lx = %lx\n",
			  SONAME, MAJOR, MINOR, name, a[0], a[1], a[2], a[3], a[4], a[5], answer);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		abort();
	close(fd);
}

static int is(const char *name, const char *other)
{
	return !strcmp(name, other);
}

static long answer_of(const char *name, long answer, const long *a)
{
	static char *handles[64];
	static int handle_count;
	static __thread char text[64];

	if (is(name, "cudaRuntimeGetVersion")) {
		/* Without a GPU a real CUDA 11 says 35 and leaves it at that. */
		if (MAJOR == 11 || BROKEN)
			return 35;
		*(int *)a[0] = 1000 * MAJOR + 10 * MINOR;
		return 0;
	}
	if (is(name, "nvrtcVersion") || is(name, "nvJitLinkVersion")) {
		if (BROKEN)
			return 1;
		*(int *)a[0] = MAJOR;
		*(int *)a[1] = MINOR;
		return 0;
	}
	if (BROKEN && is(SONAME, "libcuda.so.1"))	/* a stand-in for linking */
		return 34;
	if (BROKEN && is(SONAME, "libnvidia-ml.so.1"))
		return 12;
	if (is(name, "cuDriverGetVersion")) {
		*(int *)a[0] = 1000 * MAJOR + 10 * MINOR;
		return 0;
	}
	if (is(name, "nvmlSystemGetNVMLVersion")) {
		sprintf((char *)a[0], "%d.535.1", MAJOR);
		return 0;
	}
	if (is(name, "cuGetErrorName") || is(name, "cuGetErrorString")) {
		snprintf(text, sizeof text, "fake %d.%d says %ld", MAJOR, MINOR, a[0]);
		*(char **)a[1] = text;
		return 0;
	}
	if (is(name, "cuGetProcAddress") || is(name, "cuGetProcAddress_v2")) {
		*(void **)a[1] = (void *)&handles;
		return 0;
	}
	if (is(name, "cudaGetDeviceCount")) {
		*(int *)a[0] = devices;
		return 0;
	}
	if (is(name, "cudaSetDevice"))	/* no such device but device 0; from 200 on with that error */
		return last_error = !a[0] ? 0 : a[0] < 200 ? 101 : (int)a[0];
	if (is(name, "cudaPeekAtLastError"))
		return last_error;
	if (is(name, "cudaGetLastError")) {
		answer = last_error;
		last_error = 0;
		return answer;
	}
	if (is(name, "cudaGetErrorString") || is(name, "cudaGetErrorName") ||
	    is(name, "nvrtcGetErrorString") || is(name, "nvmlErrorString")) {
		snprintf(text, sizeof text, "fake %d.%d says %ld", MAJOR, MINOR, a[0]);
		return (long)text;
	}
	if (is(name, "nvrtcCompileProgram")) {	/* as the real one: by name, from anywhere */
		char builtins[64];
		snprintf(builtins, sizeof builtins, "libnvrtc-builtins.so.%d.%d", MAJOR, MINOR);
		return dlopen(builtins, RTLD_LAZY) ? 0 : 7;
	}
	if (is(name, "__cudaRegisterFatBinary"))
		return (long)&handles[handle_count++ % 64];
	if (is(name, "__cudaInitModule"))
		return 1;
	return answer;
}

/* There are up to 900 names: a call of this is compiled sooner than a body of each. */
static __attribute__((noinline)) long answered(long a, long b, long c, long d, long e, long f,
					       const char *name, long answer)
{
	long arguments[] = { a, b, c, d, e, f };
	long result;

	if (fake_called)
		fake_called(name, arguments);
	result = answer_of(name, answer, arguments);
	write_log(name, arguments, result);
	return result;
}

#define FAKE(name, answer) \
	long name(long a, long b, long c, long d, long e, long f) \
	{ \
		return answered(a, b, c, d, e, f, #name, answer); \
	}
#include NAMES

#ifdef DATA
/* Behind all tables; ld.so writes to its last page. */
void *fake_data[DATA / sizeof(void *)] = { [DATA / sizeof(void *) - 1] = fake_data };
#endif

#ifdef CONSTRUCTOR
static __attribute__((constructor)) void start(void)
{
	CONSTRUCTOR
}
#endif
