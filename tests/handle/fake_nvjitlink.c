/* SPDX-License-Identifier: MIT */
/*
 * fake_nvjitlink.c - a libnvJitLink that makes a cubin, or what it is told to make
 *
 * NAMES is a file of ABSENT(name) lines, one for each other name that a real
 * one exports: nobody calls those here.  CUBIN has the bytes of a cubin.  ACT: what else it does
 * with an input, where another fake includes this one.
 */
#include "fake.h"

#include <stdint.h>

#include NAMES

#ifndef ACT
#define ACT(bytes, length)
#endif

static const unsigned char cubin[] = {
#include CUBIN
};

static __attribute__((constructor)) void make(void)
{
	fake.image = cubin;
	fake.length = sizeof(cubin);
}

struct handle {
	int inputs, completed;
};

int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
	*major = MAJOR;
	*minor = MINOR;
	return 0;
}

/* As the real one: what was not created is to be destroyed, too. */
int nvJitLinkCreate(struct handle **handle, uint32_t count, const char **options)
{
	int has_arch = 0;

	for (uint32_t i = 0; i < count; i++)
		has_arch |= !strncmp(options[i], "-arch=", 6);
	MUST(has_arch);
	*handle = malloc(sizeof(**handle));
	if (!*handle)
		return 6;
	**handle = (struct handle){ 0 };
	__atomic_add_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
	MAY_FAIL();
	return 0;
}

int nvJitLinkDestroy(struct handle **handle)
{
	MUST(*handle);
	free(*handle);
	*handle = NULL;
	__atomic_sub_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
	MAY_FAIL();
	return 0;
}

int nvJitLinkAddData(struct handle *handle, int kind, const void *bytes, size_t length,
		     const char *name)
{
	MUST(!handle->completed && bytes && length && name && *name);
	MUST(kind >= 1 && kind <= 4);
	MUST(kind != 1 || !memcmp(bytes, "\177ELF", 4));
	MUST(kind != 3 || !memcmp(bytes, "\xed\x43\x4e\x7f", 4));
	MUST(kind != 4 || !memcmp(bytes, "\x50\xed\x55\xba", 4));
	MAY_FAIL();
	ACT(bytes, length)
	handle->inputs++;
	return 0;
}

int nvJitLinkComplete(struct handle *handle)
{
	MUST(handle->inputs && !handle->completed);
	MAY_FAIL();
	handle->completed = 1;
	return 0;
}

#define TEXT_LENGTH(text) ((text) ? strlen(text) + 1 : 0)

PAIR(nvJitLinkGetLinkedCubin, fake.image, fake.length)
PAIR(nvJitLinkGetLinkedPtx, fake.image, fake.length)
PAIR(nvJitLinkGetLinkedLTOIR, fake.image, fake.length)
PAIR(nvJitLinkGetInfoLog, fake.info, TEXT_LENGTH(fake.info))
PAIR(nvJitLinkGetErrorLog, fake.error, TEXT_LENGTH(fake.error))
