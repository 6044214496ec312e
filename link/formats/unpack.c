/* SPDX-License-Identifier: MIT */
/* unpack.c - unpacks compressed payloads with libraries that are loaded when needed */
#include "unpack.h"

#include <limits.h>

#include "../../stubs/base/by_name.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/entry/note.h"
#include "inspection.h"

const char LK_NO_MEMORY[] = "memory ran out";

LC_DLOPEN_NOTE(unpack,
	LC_DLOPEN("\"liblz4.so.1\"", "lz4", "device code that is compressed with LZ4") ","
	LC_DLOPEN("\"libzstd.so.1\"", "zstd", "device code that is compressed with ZSTD"))

typedef int lz4_decompress(const char *from, char *into, int length, int size);
typedef size_t zstd_decompress(void *into, size_t size, const void *from, size_t length);

static struct format {
	const char *library, *function;
	const char *missing, *damaged;
	/* One step produces at most step_out bytes and consumes at least step_in. */
	uint64_t step_out, step_in;
	void *address;		/* NULL: not looked up yet; MISSING; or the function */
} formats[] = {
	/* One byte of LZ4 adds at most 255 to the length of a match. */
	{ "liblz4.so.1", "LZ4_decompress_safe",
	  "is compressed with LZ4 and liblz4.so.1 is not installed",
	  "cannot be unpacked: its LZ4 data is damaged", 255, 1, NULL },
	/* The densest block of ZSTD is a header of three bytes and one byte that repeats. */
	{ "libzstd.so.1", "ZSTD_decompress",
	  "is compressed with ZSTD and libzstd.so.1 is not installed",
	  "cannot be unpacked: its ZSTD data is damaged", 128 * 1024, 4, NULL },
};

#define MISSING ((void *)-1)

/*
 * Returns the function, or MISSING.  No lock is held across dlopen(): two threads that
 * look it up at the same time find the same function, and the library is never unloaded.
 */
static void *find(struct format *format)
{
	void *address = __atomic_load_n(&format->address, __ATOMIC_ACQUIRE);
	void *library;

	if (address)
		return address;
	library = lc_open_by_name(format->library);
	address = library ? dlsym(library, format->function) : NULL;
	if (!address)
		address = MISSING;
	__atomic_store_n(&format->address, address, __ATOMIC_RELEASE);
	return address;
}

const char *lk_unpack_missing(int zstd)
{
	struct format *format = &formats[zstd != 0];

	return find(format) == MISSING ? format->missing : NULL;
}

uint64_t lk_unpack_limit(int zstd, uint64_t length)
{
	const struct format *format = &formats[zstd != 0];
	uint64_t steps = length / format->step_in + 1;

	return steps > UINT64_MAX / format->step_out ? UINT64_MAX : steps * format->step_out;
}

static const char *unpack_lz4(const struct format *format, void *function, const void *from,
			      size_t length, void *into, size_t size)
{
	lz4_decompress *decompress = (lz4_decompress *)function;

	return length <= INT_MAX && size <= INT_MAX &&
	       decompress(from, into, (int)length, (int)size) == (int)size ?
	       NULL : format->damaged;
}

/* ZSTD returns errors as numbers larger than any size.  It allocates its own working memory. */
#define ZSTD_NO_MEMORY ((size_t)-64)

static const char *unpack_zstd(const struct format *format, void *function, const void *from,
			       size_t length, void *into, size_t size)
{
	zstd_decompress *decompress = (zstd_decompress *)function;
	size_t result = decompress(into, size, from, length);

	if (result == ZSTD_NO_MEMORY)
		return LK_NO_MEMORY;
	return result == size ? NULL : format->damaged;
}

const char *lk_unpack(int zstd, const void *from, size_t length, void *into, size_t size)
{
	struct format *format = &formats[zstd != 0];
	void *function = find(format);

	if (function == MISSING)
		return format->missing;
	return (zstd ? unpack_zstd : unpack_lz4)(format, function, from, length, into, size);
}
