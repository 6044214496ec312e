/* SPDX-License-Identifier: MIT */
/*
 * packages.c - fuzzing what tells which package a file is of
 *
 * An input is the name of a folder, and behind a NUL the RECORD that is in it.
 */
#include "../../stubs/base/packages.h"

#include "fuzzing.h"

#define FILE_THERE "nvidia/cudnn/lib/libcudnn.so.9"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = next_text(&data, &size), *record = next_text(&data, &size);
	const char *rest = record, *file;
	int cuda = lc_package_cuda(name);
	size_t of_name;
	off_t bytes;

	must(cuda >= 0 && cuda < 32);
	must(cuda || !lc_package_is_called(name, FILE_THERE));
	if (lc_record_has(record, FILE_THERE, 104664)) {
		must(strstr(record, FILE_THERE ","));
		must(!lc_record_has(record, FILE_THERE, 104665));
	}
	while (lc_record_next(&rest, &file, &of_name, &bytes)) {
		must(file >= record && of_name < (size_t)(rest - file) && bytes >= -1);
		must(!memchr(file, '\n', of_name));
	}
	must(!*rest);
	free(record);
	free(name);
	return 0;
}
