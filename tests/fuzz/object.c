/* SPDX-License-Identifier: MIT */
/* object.c - fuzzing the reader of files that may be a real library */
#include "../../stubs/base/object.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzzing.h"

static const struct lc_library library = FUZZ_LIBRARY("cudart");
static struct lc_library own;	/* the same, with majors of its own */

/* A file that is in memory, and its path. */
static int file = -1;
static char path[32];

static void write_file(const uint8_t *data, size_t size)
{
	if (file < 0) {
		file = memfd_create("input", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	must(!ftruncate(file, (off_t)size));
	must(pwrite(file, data, size, 0) == (ssize_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_elf elf;
	const char *why;

	own = library;
	own.own_majors = 1;
	write_file(data, size);
	why = lc_elf_file(path, &library, &elf);
	must(!why || *why);
	must(memchr(elf.soname, 0, sizeof(elf.soname)) != NULL);
	if (!why && elf.major) {
		must(elf.major >= fuzz_majors && elf.major < fuzz_majors + COUNT(fuzz_majors));
		must(elf.version >= elf.major->oldest && elf.version <= elf.major->newest);
	}
	why = lc_elf_file(path, &own, &elf);
	must(!(elf.needs & 1) && (!elf.needs || (!why && elf.major)));
	return 0;
}
