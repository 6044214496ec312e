/* SPDX-License-Identifier: MIT */
/*
 * older.c - the record of a stub of curand, as a release would have it whose library ended
 * before `cuda`: what is read behind that ends the process
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/peers.h"
#include "loader/specifics.h"

#define END offsetof(struct lc_library, cuda)

_Static_assert(END % _Alignof(struct lc_library) == 0, "the end of a page is not aligned for it");

static int load(void)
{
	return 1;
}

static const struct lazycuda_status *status(void)
{
	return NULL;
}

static const struct lazycuda_error *error(void)
{
	return NULL;
}

static const struct lc_specifics specifics;
static const struct lc_major majors[] = { { .major = 10, .soname = "libcurand.so.10" } };

struct lc_peer lazycuda_stub_1 = {
	.size = LC_PEER_FIRST, .load = load, .status = status, .error = error,
	.specifics = &specifics,
};

static __attribute__((constructor)) void begin(void)
{
	static const struct lc_library library = {
		.name = "curand", .stub = "libcurand_stub.so", .variable = "LAZYCUDA_CURAND",
		.majors = majors, .major_count = 1, .names = "", .own_majors = 1, .by_soname = 1,
	};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		abort();
	lazycuda_stub_1.library = memcpy(pages + page - END, &library, END);
	if (getenv("OLDER_HAS_LOADED"))
		lazycuda_stub_1.loaded = LC_VERSION(10, 3);
}
