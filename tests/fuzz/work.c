/* SPDX-License-Identifier: MIT */
/*
 * work.c - how much work an input makes, as edges of the program that were taken
 *
 * Each target is compiled under another name, so that what the fuzzer calls is this:
 * an input that makes more steps than its length allows is a finding, as a crash is.
 * What libc does for the target counts by its length, as far as it is one that grows.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MOST_STEPS, of a byte, is of the target. */
#define STEPS_AT_LEAST 50000	/* whatever the length is */

int target(const uint8_t *data, size_t size);

static uint64_t steps;

/* The compiler has this called at each edge; the linker, that it is this one and not
 * the fuzzer's own. */
void __wrap___sanitizer_cov_trace_pc(void)
{
	steps++;
}

/* What a function of libc looks at, a word a step. */
#define COUNTED(type, name, looked_at, parameters, ...) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		type result = __real_##name(__VA_ARGS__); \
		steps += (looked_at) / sizeof(long); \
		return result; \
	}

static size_t up_to(const void *from, const void *found, size_t all)
{
	return found ? (size_t)((const char *)found - (const char *)from) : all;
}

COUNTED(size_t, strlen, result, (const char *text), text)
COUNTED(size_t, strnlen, result, (const char *text, size_t most), text, most)
COUNTED(char *, strchr, up_to(text, result, __real_strlen(text)), (const char *text, int c),
	text, c)
COUNTED(char *, strrchr, __real_strlen(text), (const char *text, int c), text, c)
COUNTED(void *, memchr, up_to(bytes, result, size), (const void *bytes, int c, size_t size),
	bytes, c, size)
COUNTED(void *, memmem, up_to(bytes, result, size),
	(const void *bytes, size_t size, const void *word, size_t length),
	bytes, size, word, length)
COUNTED(void *, __asan_memcpy, size, (void *to, const void *from, size_t size), to, from, size)
COUNTED(void *, __asan_memset, size, (void *to, int c, size_t size), to, c, size)
COUNTED(void *, __asan_memmove, size, (void *to, const void *from, size_t size), to, from, size)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int result;

	steps = 0;
	result = target(data, size);
	if (getenv("FUZZ_STEPS"))	/* to see what is usual */
		fprintf(stderr, "%llu steps for %zu bytes\n", (unsigned long long)steps, size);
	if (steps > STEPS_AT_LEAST + (uint64_t)MOST_STEPS * size) {
		fprintf(stderr, "ERROR: libFuzzer: %llu steps for %zu bytes\n",
			(unsigned long long)steps, size);
		abort();
	}
	return result;
}
