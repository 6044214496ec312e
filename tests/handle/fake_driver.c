/* SPDX-License-Identifier: MIT */
/*
 * fake_driver.c - a libcuda.so.1 that links, and uses every right it has
 *
 * cuLinkCreate() keeps the arrays it was given, and cuLinkDestroy() writes to
 * all of them, to every log buffer and to the end of it, as real drivers may.
 * The image that cuLinkComplete() hands out is freed by cuLinkDestroy().
 */
#include "fake.h"

#include <stdint.h>

#ifndef DRIVER
#define DRIVER 13000
#endif

enum { INFO = 3, INFO_SIZE = 4, ERRORS = 5, ERRORS_SIZE = 6 };
enum { OUT_OF_MEMORY = 2 };
enum { CUBIN = 0, PTX = 1, FATBIN = 2 };

struct link {
	unsigned count;
	int *options;
	void **values;
	char *info, *error;
	size_t info_size, error_size;
	void *image;
	int inputs, completed;
};

static __thread int contexts[4], depth;	/* pushed, in this thread */
static int primary, initialized;
/* What is retained and pushed now, and was altogether. */
__attribute__((visibility("default"))) int fake_current, fake_retained, fake_pushed,
	fake_all_retained, fake_all_pushed;

int cuDriverGetVersion(int *version)
{
	*version = DRIVER;
	return 0;
}

int cuGetErrorName(int result, const char **name)
{
	*name = result == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : "CUDA_ERROR_FAKE";
	return 0;
}

int cuInit(unsigned flags)
{
	MUST(!flags);
	MAY_FAIL();
	initialized = 1;
	return 0;
}

int cuCtxGetCurrent(void **context)
{
	MUST(initialized);
	MAY_FAIL();
	*context = depth ? &contexts[depth - 1] : fake_current ? &fake_current : NULL;
	return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
	MAY_FAIL();
	if (ordinal)
		return 101;
	*device = 7;
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	MUST(device == 7 && (attribute == 75 || attribute == 76));
	MAY_FAIL();
	*value = attribute == 75 ? 8 : 6;
	return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	MUST(device == 7);
	MAY_FAIL();
	*context = &primary;
	__atomic_add_fetch(&fake_retained, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&fake_all_retained, 1, __ATOMIC_RELAXED);
	return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	MUST(device == 7);
	__atomic_sub_fetch(&fake_retained, 1, __ATOMIC_RELAXED);
	MAY_FAIL();
	return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
	MUST(context == &primary && depth < 4);
	MAY_FAIL();
	depth++;
	__atomic_add_fetch(&fake_pushed, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&fake_all_pushed, 1, __ATOMIC_RELAXED);
	return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
	MUST(depth > 0);
	depth--;
	__atomic_sub_fetch(&fake_pushed, 1, __ATOMIC_RELAXED);
	*context = &primary;
	MAY_FAIL();
	return 0;
}

static void *value_of(const struct link *link, int option)
{
	for (unsigned i = 0; i < link->count; i++)
		if (link->options[i] == option)
			return link->values[i];
	return NULL;
}

static void set(struct link *link, int option, size_t value)
{
	for (unsigned i = 0; i < link->count; i++)
		if (link->options[i] == option)
			link->values[i] = (void *)value;
}

/* Without a NUL if there is no room for one. */
static void say(char *buffer, size_t size, const char *text)
{
	if (text)
		memcpy(buffer, text, strlen(text) < size ? strlen(text) + 1 : size);
}

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state)
{
	struct link *link = calloc(1, sizeof(*link));

	MUST(depth || fake_current);
	if (!link)
		return OUT_OF_MEMORY;
	*link = (struct link){ .count = count, .options = options, .values = values };
	link->info = value_of(link, INFO);
	link->error = value_of(link, ERRORS);
	link->info_size = (unsigned)(uintptr_t)value_of(link, INFO_SIZE);
	link->error_size = (unsigned)(uintptr_t)value_of(link, ERRORS_SIZE);
	MUST(link->info && link->error && link->info_size && link->error_size);
	say(link->error, link->error_size, fake.error);
	if (fails(__func__)) {
		free(link);
		*state = &fake;		/* not to be touched */
		return fake.status;
	}
	*state = link;
	__atomic_add_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
	return 0;
}

int cuLinkAddData_v2(struct link *link, int kind, void *data, size_t size, const char *name,
		     unsigned count, int *options, void **values)
{
	MUST(depth || fake_current);
	MUST(!count && !options && !values && name && *name);
	MUST(size && !link->completed);
	if (kind == PTX && strstr(data, "//DO abort"))
		abort();
	if (kind == PTX)	/* the NUL counts, and there is one */
		MUST(strlen(data) == size - 1);
	else if (kind == CUBIN)
		MUST(size > 64 && !memcmp(data, "\177ELF", 4));
	else
		MUST(kind == FATBIN && !memcmp(data, "\x50\xed\x55\xba", 4));
	MAY_FAIL();
	link->inputs++;
	return 0;
}

int cuLinkComplete(struct link *link, void **image, size_t *length)
{
	MUST(link->inputs && !link->completed);
	MAY_FAIL();
	link->completed = 1;
	say(link->info, link->info_size, fake.info);
	set(link, INFO_SIZE, fake.info ? strlen(fake.info) : 0);
	link->image = fake.image ? malloc(fake.length) : NULL;
	if (fake.image && !link->image)
		return OUT_OF_MEMORY;
	if (link->image)
		memcpy(link->image, fake.image, fake.length);
	*image = link->image;
	*length = fake.length;
	return 0;
}

int cuLinkDestroy(struct link *link)
{
	memset(link->info, 'x', link->info_size);
	memset(link->error, 'x', link->error_size);
	for (unsigned i = 0; i < link->count; i++) {
		link->options[i] = -1;
		link->values[i] = (void *)0xdead;
	}
	if (link->image)
		memset(link->image, 'x', fake.length);
	free(link->image);
	free(link);
	__atomic_sub_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
	MAY_FAIL();
	return 0;
}
