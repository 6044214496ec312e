/* SPDX-License-Identifier: MIT */
/* fake_nvrtc.c - a libnvrtc that makes what it is told to make; NAMES as in
 * fake_nvjitlink.c */
#include "fake.h"

#include NAMES

struct program {
	int compiled;
};

int nvrtcVersion(int *major, int *minor)
{
	*major = MAJOR;
	*minor = MINOR;
	return 0;
}

const char *nvrtcGetErrorString(int result)
{
	return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_FAKE";
}

int nvrtcCreateProgram(struct program **program, const char *source, const char *name, int count,
		       const char *const *headers, const char *const *names)
{
	MUST(source && name && count >= 0 && !headers == !count && !names == !count);
	for (int i = 0; i < count; i++)
		MUST(headers[i] && names[i]);
	MAY_FAIL();
	*program = malloc(sizeof(**program));
	if (!*program)
		return 1;
	**program = (struct program){ 0 };
	__atomic_add_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
	return 0;
}

int nvrtcDestroyProgram(struct program **program)
{
	MUST(*program);
	free(*program);
	*program = NULL;
	__atomic_sub_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
	MAY_FAIL();
	return 0;
}

int nvrtcCompileProgram(struct program *program, int count, const char *const *options)
{
	for (int i = 0; i < count; i++)
		MUST(options[i][0] == '-');
	MAY_FAIL();
	program->compiled = 1;
	return 0;
}

#define LOG (((const struct program *)owner)->compiled ? fake.info : fake.error)

PAIR(nvrtcGetPTX, fake.image, fake.length)
PAIR(nvrtcGetCUBIN, fake.image, fake.length)
PAIR(nvrtcGetLTOIR, fake.image, fake.length)
PAIR(nvrtcGetProgramLog, LOG ? LOG : "", LOG ? strlen(LOG) + 1 : 1)
