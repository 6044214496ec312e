/* SPDX-License-Identifier: MIT */
/* inspect_command.c - `lazycuda inspect`: lists the device code in files */
#include "commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../stubs/base/glibc.h"
#include "../stubs/base/regular.h"
#include "inspect_report.h"
#include "json.h"
#include "command_line.h"
#include "say.h"

static const char usage[] =
"usage: lazycuda inspect [OPTION...] FILE...\n"
"\n"
"Says what device code a file holds, by its content: PTX, cubins, LTO-IR, fatbins,\n"
"objects, static libraries, shared libraries and programs, CUDA source; and for each\n"
"piece of code its kind, architecture, version and how it is stored.  Runs nothing\n"
"and needs no CUDA.\n"
"\n";

static const char end[] =
"\n"
"Compressed code is unpacked with liblz4.so.1 and libzstd.so.1 where they are.\n"
"Exit status: 0 every file holds device code or is CUDA source or LLVM IR; 1 a file or\n"
"an entry is damaged, holds no device code, or is of a kind that is not supported; 2 wrong\n"
"usage, or a file cannot be read; the other files are reported all the same.\n";

struct inspect_options {
	bool json, all, headers_only;
	uint64_t unpack_limit;
};

static const struct option options[] = {
	{ "--json", NULL, "the same as JSON, every piece by itself",
	  .at = offsetof(struct inspect_options, json) },
	{ "--entries", NULL, "every piece on a line of its own; without it, where there are many,"
	  " those that are alike are counted", .at = offsetof(struct inspect_options, all) },
	{ "--no-unpack", NULL, "read headers alone: faster, but of compressed code only what the"
	  " fatbin's header says is known", .at = offsetof(struct inspect_options, headers_only) },
	{ "--unpack-limit", "SIZE", "unpack at most SIZE bytes of each file, such as 4G; default:"
	  " 32 times the file, and at least 256M. More is an error",
	  .read = bytes_read, .at = offsetof(struct inspect_options, unpack_limit),
	  .wants = "--unpack-limit takes a size, such as 4G" },
	{ .name = NULL },
};

static const struct command command = {
	.name = "inspect", .usage = usage, .options = options, .end = end,
};

/* The library reports an unreadable file and a damaged one alike as an error; this tells
 * them apart. */
static bool is_readable(const char *path)
{
	struct stat st;
	int fd = lc_open_regular(path, &st);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool is_code(enum lazycuda_kind kind)
{
	return kind == LAZYCUDA_KIND_PTX || kind == LAZYCUDA_KIND_CUBIN ||
	       kind == LAZYCUDA_KIND_LTOIR;
}

/* Returns true if there are entries and no device code among them is damaged.  An error in
 * an entry of another or an unknown kind does not count as damage. */
static bool is_sound(const struct lazycuda_inspection *inspection)
{
	for (size_t i = 0; i < inspection->entry_count; i++)
		if (is_code(inspection->entries[i]->kind) && inspection->entries[i]->error)
			return false;
	return inspection->entry_count > 0;
}

static int status_of(const struct lazycuda_inspection *inspection)
{
	if (inspection->error)
		return 1;
	switch (inspection->kind) {
	case LAZYCUDA_KIND_SOURCE:
	case LAZYCUDA_KIND_LLVMIR:
	case LAZYCUDA_KIND_BITCODE:
		return 0;
	case LAZYCUDA_KIND_FATBIN:
	case LAZYCUDA_KIND_OBJECT:
	case LAZYCUDA_KIND_ARCHIVE:
	case LAZYCUDA_KIND_SHARED:
	case LAZYCUDA_KIND_OFFLOAD:
		return is_sound(inspection) ? 0 : 1;
	default:
		return is_code(inspection->kind) && is_sound(inspection) ? 0 : 1;
	}
}

static int inspect_file(const char *path, const struct inspect_options *options)
{
	const struct lazycuda_input input = { .size = sizeof(input), .path = path };
	struct lazycuda_inspection *inspection = lazycuda_inspect_input(&input,
		options->headers_only ? 0 : LAZYCUDA_INSPECT_PAYLOADS, options->unpack_limit);
	int status = !inspection || (inspection->error && !is_readable(path)) ? 2 : status_of(inspection);

	if (inspection && status == 2)
		complain("inspect", "%s %s", path, inspection->error);
	if (inspection && options->json)
		inspect_print_json(inspection);
	else if (!inspection || (status != 2 && !inspect_print(inspection, options->all))) {
		complain("inspect", "memory ran out");
		status = 2;
	}
	lazycuda_inspection_free(inspection);
	return status;
}

static int inspect_files(char **paths, int count, const struct inspect_options *options)
{
	int status = 0;

	if (options->json) {
		json_open(NULL, '{');
		json_open("files", '[');
	}
	for (int i = 0; i < count; i++) {
		int one = inspect_file(paths[i], options);

		if (one > status)
			status = one;
	}
	if (options->json) {
		json_close(']');
		json_close('}');
	}
	return status;
}

int inspect_main(int argc, char **argv)
{
	struct inspect_options asked = { .json = false };
	int status, count = options_read(&command, &asked, argc, argv, NULL, &status);

	if (count < 0)
		return status;
	return count ? inspect_files(argv, count, &asked) :
		       options_wrong(&command, "no file is given", "");
}
