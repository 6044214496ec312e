/* SPDX-License-Identifier: MIT */
/* fuzzing.h - what the targets have in common */
#ifndef FUZZING_H
#define FUZZING_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/printable.h"
#include "../../stubs/entry/stub.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(int holds)
{
	if (!holds)
		abort();
}

/* What can be read is read, so that what may not be is seen. */
static inline void touch(const void *bytes, size_t length)
{
	static volatile unsigned sink;

	for (size_t i = 0; i < length; i++)
		sink += ((const unsigned char *)bytes)[i];
}

static inline void touch_text(const char *text)
{
	if (text)
		touch(text, strlen(text));
}

/* Text that a terminal shows and does not obey. */
static inline void must_be_shown(const char *text)
{
	uint32_t character;

	while (*text) {
		size_t length = lc_character(text, &character);

		must(length && lc_is_shown(character));
		text += length;
	}
}

/* Memory of exactly that size: what reads behind it is seen. */
static inline void *copy_of(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	must(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/* The next of the texts in an input, which have a NUL each. */
static inline char *next_text(const uint8_t **data, size_t *size)
{
	size_t length = strnlen((const char *)*data, *size);
	char *text = malloc(length + 1);

	must(text != NULL);
	memcpy(text, *data, length);
	text[length] = 0;
	length += length < *size;
	*data += length;
	*size -= length;
	return text;
}

/* ---- a library that is like those of the stubs ---- */

static const struct lc_major fuzz_majors[] = {
	{ 13, "libcudart.so.13", "nvidia/cu13/lib", LC_VERSION(13, 0), LC_VERSION(13, 5) },
	{ 12, "libcudart.so.12", "nvidia/cudart/lib", LC_VERSION(12, 0), LC_VERSION(12, 9) },
	{ 11, "libcudart.so.11.0", "nvidia/cudart/lib", LC_VERSION(11, 7), LC_VERSION(11, 8) },
};
static const uint16_t fuzz_known_majors[] = { 13, 12, 11 };
static const char fuzz_names[] = "cudaMalloc\0cudaMemAdvise\0cudaLaunchKernelExC";
enum { FUZZ_MALLOC = 0, FUZZ_ADVISE = 11, FUZZ_LAUNCH = 25 };
static const struct lc_since fuzz_since[] = {
	{ FUZZ_ADVISE, LC_VERSION(13, 2) }, { FUZZ_LAUNCH, LC_VERSION(12, 3) },
};
static const struct lc_export fuzz_exports[] = {
	{ FUZZ_LAUNCH, 12, 3 }, { FUZZ_LAUNCH, 13, 3 },
	{ FUZZ_MALLOC, 11, 0 }, { FUZZ_MALLOC, 12, 0 }, { FUZZ_MALLOC, 13, 0 },
	{ FUZZ_ADVISE, 11, 1 }, { FUZZ_ADVISE, 12, 1 }, { FUZZ_ADVISE, 13, 2 },
};

#define FUZZ_LIBRARY(called) { \
	.name = called, .stub = "libcudart_stub.so", .variable = "LAZYCUDA_CUDART", \
	.majors = fuzz_majors, .major_count = COUNT(fuzz_majors), \
	.known_majors = fuzz_known_majors, .known_major_count = COUNT(fuzz_known_majors), \
	.names = fuzz_names, .since = fuzz_since, .since_count = COUNT(fuzz_since), \
	.exports = fuzz_exports, .export_count = COUNT(fuzz_exports), \
}

#endif
