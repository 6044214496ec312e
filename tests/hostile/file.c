/* SPDX-License-Identifier: MIT */
/* file.c - prints what stubs/base/object.c says of files: "why|stub|major" */
#include "../../stubs/base/object.h"

#include <stdio.h>

#include "../fuzz/fuzzing.h"

static const struct lc_library cudart = FUZZ_LIBRARY("cudart");

static const struct lc_major driver_major = {
	0, "libcuda.so.1", NULL, LC_VERSION(11, 7), LC_VERSION(13, 5),
};
static const struct lc_library driver = {
	.name = "cuda", .majors = &driver_major, .major_count = 1, .witness = "cuDriverGetVersion",
};

int main(int count, char **words)
{
	for (int i = 2; i < count; i++) {
		struct lc_elf elf;
		const char *why = lc_elf_file(words[i], *words[1] == 'd' ? &driver : &cudart, &elf);

		printf("%s|%d|%s\n", why ? why : "", elf.stub, elf.major ? elf.major->soname : "");
	}
	return 0;
}
