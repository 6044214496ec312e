/* SPDX-License-Identifier: MIT */
/* inspect_command.c - `lazycuda inspect`: lists the device code in files */
#include "commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../include/lazycuda_link.h"
#include "../link/tables/versions.h"
#include "../stubs/base/arena.h"
#include "../stubs/base/count.h"
#include "../stubs/base/glibc.h"
#include "json.h"
#include "command_line.h"
#include "say.h"

#define MANY 16		/* entries; from this number on, entries that are alike are counted */
#define MOST_GROUPS 1024
#define CELL 24

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
	{ "--json", NULL, "print JSON, every piece by itself",
	  .at = offsetof(struct inspect_options, json) },
	{ "--entries", NULL, "every piece on a line of its own; without it, where there are many,"
	  " those that are alike are counted", .at = offsetof(struct inspect_options, all) },
	{ "--no-unpack", NULL, "read headers alone: faster, but of compressed code only what the"
	  " fatbin's header says is known", .at = offsetof(struct inspect_options, headers_only) },
	{ "--unpack-limit", "SIZE", "unpack at most SIZE bytes of each file, such as 4G; default:"
	  " 32 times the file, and at least 256M. More is an error",
	  .read = bytes_read, .at = offsetof(struct inspect_options, unpack_limit),
	  .wants = "a size, such as 4G" },
	{ .name = NULL },
};

static const struct command command = {
	.name = "inspect", .usage = usage, .options = options, .end = end,
};

/* ---- words ---- */

/* "sm_90a"; NULL if the architecture is unknown. */
static const char *arch_text(const struct lazycuda_entry *entry, char text[CELL])
{
	if (!entry->arch)
		return NULL;
	snprintf(text, CELL, "sm_%d%.1s", entry->arch, (const char[]){ entry->suffix, '\0' });
	return text;
}

static const char *toolkit_text(int toolkit, char text[CELL])
{
	return toolkit > 0 ? lk_version_text(toolkit, text) : NULL;
}

/* "9.0" for 90; NULL if the ISA is unknown. */
static const char *isa_text(int isa, char text[CELL])
{
	if (!isa)
		return NULL;
	snprintf(text, CELL, "%d.%d", isa / 10, isa % 10);
	return text;
}

/* "2.98" for 2098; NULL if the version is unknown. */
static const char *ir_text(int version, char text[CELL])
{
	if (!version)
		return NULL;
	snprintf(text, CELL, "%d.%d", version / 1000, version % 1000);
	return text;
}

static const char *compression(const struct lazycuda_entry *entry)
{
	return entry->flags & LAZYCUDA_ENTRY_LZ4 ? "lz4" :
	       entry->flags & LAZYCUDA_ENTRY_ZSTD ? "zstd" : NULL;
}

/* In text and in JSON; NULL: not there. */
static const struct {
	unsigned flag;
	const char *word, *key;
} flag_words[] = {
	{ LAZYCUDA_ENTRY_RELOCATABLE, "relocatable", "relocatable" },
	{ LAZYCUDA_ENTRY_LINKED, "linked", "linked" },
	{ LAZYCUDA_ENTRY_LZ4, "lz4", NULL },
	{ LAZYCUDA_ENTRY_ZSTD, "zstd", NULL },
	{ LAZYCUDA_ENTRY_OBFUSCATED, "obfuscated", "obfuscated" },
	{ LAZYCUDA_ENTRY_DEBUG, "debug", "debug" },
	{ LAZYCUDA_ENTRY_32_BIT, "32-bit", "addresses_32" },
	{ LAZYCUDA_ENTRY_UNSEEN, "not unpacked", "unseen" },
	{ LAZYCUDA_ENTRY_LIBDEVICE, "calls libdevice", "libdevice" },
	{ LAZYCUDA_ENTRY_NO_LAYOUT, "no data layout", "no_layout" },
	{ LAZYCUDA_ENTRY_LISTED, "lists all that it offers", "listed" },
	{ LAZYCUDA_ENTRY_NO_DEBUG_INFO, NULL, "no_debug_info" },
};

#define FLAG_WORDS LC_COUNT(flag_words)

/* ---- text ---- */

/* Entries that are alike. */
struct alike {
	const struct lazycuda_entry *entry;	/* the first */
	size_t count;
	unsigned long long bytes;
};

static bool same_text(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

static bool alike(const struct lazycuda_entry *one, const struct lazycuda_entry *other)
{
	return one->kind == other->kind && one->arch == other->arch &&
	       one->suffix == other->suffix && one->toolkit == other->toolkit &&
	       one->isa == other->isa && one->container == other->container &&
	       one->ir == other->ir && one->level == other->level && one->abi == other->abi &&
	       one->flags == other->flags && same_text(one->section, other->section) &&
	       same_text(one->error, other->error);
}

/* Returns NULL if there are too many groups to be useful, or on allocation failure. */
static struct alike *make_groups(const struct lazycuda_inspection *inspection,
				 struct lc_arena *arena, size_t *count)
{
	struct alike *groups = NULL;

	*count = 0;
	for (size_t i = 0; i < inspection->entry_count; i++) {
		const struct lazycuda_entry *entry = inspection->entries[i];
		size_t at = 0;

		while (at < *count && !alike(groups[at].entry, entry))
			at++;
		if (at == *count) {
			struct alike *group = *count == MOST_GROUPS ? NULL :
					      lc_grow(arena, &groups, count, sizeof(*group));

			if (!group)
				return NULL;
			group->entry = entry;
		}
		groups[at].count++;
		groups[at].bytes += entry->length;
	}
	return groups;
}

/* The toolkit that made an entry, and the version of its language or container. */
static const char *version_words(const struct lazycuda_entry *entry, struct lc_arena *arena)
{
	char toolkit[CELL], detail[CELL];
	const char *cuda = toolkit_text(entry->toolkit, toolkit), *what = NULL;
	const char *made = cuda ? lc_format(arena, "CUDA %s", cuda) : "CUDA unknown";

	if (isa_text(entry->isa, detail))
		what = lc_format(arena, "PTX %s", detail);
	else if (ir_text(entry->ir, detail))
		what = lc_format(arena, "IR %s", detail);
	else if (ir_text(entry->container, detail))
		what = lc_format(arena, "container %s", detail);
	if (!what)
		return made;
	return cuda ? lc_format(arena, "%s, %s", made, what) : what;
}

static void print_code(const struct lazycuda_entry *entry, struct lc_arena *arena)
{
	const char *separator = "  ";
	char arch[CELL];
	const char *known = arch_text(entry, arch);

	printf("%-7s  %-8s  %-22s", lazycuda_kind_name(entry->kind), known ? known : "-",
	       version_words(entry, arena));
	for (size_t i = 0; i < FLAG_WORDS; i++) {
		if (!(entry->flags & flag_words[i].flag) || !flag_words[i].word)
			continue;
		printf("%s%s", separator, flag_words[i].word);
		separator = ", ";
	}
}

static void print_end(const struct lazycuda_entry *entry, struct lc_arena *arena)
{
	if (entry->error)
		printf("; error: %s", lc_printable(arena, entry->error));
	putchar('\n');
}

static void print_entry(const struct lazycuda_entry *entry, struct lc_arena *arena)
{
	fputs("  ", stdout);
	print_code(entry, arena);
	printf("  %llu bytes at 0x%llx", (unsigned long long)entry->length,
	       (unsigned long long)entry->offset);
	if (entry->member)
		printf(", %s", lc_printable(arena, entry->member));
	if (entry->section)
		printf(", %s", lc_printable(arena, entry->section));
	print_end(entry, arena);
}

static void print_groups(const struct alike *groups, size_t count, struct lc_arena *arena)
{
	for (size_t i = 0; i < count; i++) {
		printf("  %6zu x ", groups[i].count);
		print_code(groups[i].entry, arena);
		printf("  %llu bytes", groups[i].bytes);
		if (groups[i].entry->section)
			printf(", %s", lc_printable(arena, groups[i].entry->section));
		print_end(groups[i].entry, arena);
	}
}

static void print_head(const struct lazycuda_inspection *inspection, struct lc_arena *arena)
{
	printf("%s: ", lc_printable(arena, inspection->name));
	if (inspection->error && inspection->kind == LAZYCUDA_KIND_UNKNOWN) {
		printf("%s\n", lc_printable(arena, inspection->error));
		return;
	}
	if (inspection->kind == LAZYCUDA_KIND_UNKNOWN)
		fputs("unknown content", stdout);
	else
		fputs(lazycuda_kind_name(inspection->kind), stdout);
	if (inspection->entry_count)
		printf(", %zu %s", inspection->entry_count,
		       inspection->entry_count == 1 ? "entry" : "entries");
	else if (!inspection->error && (inspection->kind == LAZYCUDA_KIND_FATBIN ||
					inspection->kind == LAZYCUDA_KIND_OBJECT ||
					inspection->kind == LAZYCUDA_KIND_ARCHIVE ||
					inspection->kind == LAZYCUDA_KIND_SHARED ||
					inspection->kind == LAZYCUDA_KIND_OFFLOAD))
		fputs(", no device code", stdout);
	if (inspection->fatbin_count > 1)
		printf(" in %d containers", inspection->fatbin_count);
	putchar('\n');
	if (inspection->error)
		printf("  error: %s\n", lc_printable(arena, inspection->error));
}

/* Prints one file as text, with `all` one line per entry.  Returns false on allocation
 * failure, when some of the text is missing. */
static bool print_file(const struct lazycuda_inspection *inspection, bool all)
{
	struct lc_arena arena = { .failed = false };
	size_t count = 0;
	struct alike *groups = all || inspection->entry_count < MANY ? NULL :
			       make_groups(inspection, &arena, &count);

	print_head(inspection, &arena);
	if (inspection->warning)
		printf("  warning: %s\n", lc_printable(&arena, inspection->warning));
	if (groups)
		print_groups(groups, count, &arena);
	for (size_t i = 0; !groups && i < inspection->entry_count; i++)
		print_entry(inspection->entries[i], &arena);
	lc_arena_free(&arena);
	return !arena.failed;
}

/* ---- JSON ---- */

static void json_entry(const struct lazycuda_entry *entry)
{
	char arch[CELL], toolkit[CELL], isa[CELL], container[CELL], ir[CELL];
	const char *made_by = toolkit_text(entry->toolkit, toolkit);
	const char *language = isa_text(entry->isa, isa);

	json_open(NULL, '{');
	json_text("kind", lazycuda_kind_name(entry->kind));
	json_text("arch", arch_text(entry, arch));
	json_text("version", entry->kind == LAZYCUDA_KIND_PTX ? language : made_by);
	json_boolean("compressed", compression(entry) != NULL);
	for (size_t i = 0; i < FLAG_WORDS; i++)
		if (flag_words[i].key)
			json_boolean(flag_words[i].key, (entry->flags & flag_words[i].flag) != 0);
	json_text("compression", compression(entry));
	json_text("toolkit", made_by);
	json_text("isa", language);
	json_text("container", ir_text(entry->container, container));
	json_text("ir", ir_text(entry->ir, ir));
	json_known("level", entry->level, entry->level >= 0);
	json_known("abi", entry->abi, entry->abi);
	json_size("offset", entry->offset);
	json_size("length", entry->length);
	json_size("unpacked_length", entry->unpacked);
	json_text("member", entry->member);
	json_text("section", entry->section);
	json_known("fatbin", entry->fatbin, entry->fatbin >= 0);
	json_text("error", entry->error);
	json_close('}');
}

/* Prints one file as an object in the open JSON array. */
static void json_file(const struct lazycuda_inspection *inspection)
{
	json_open(NULL, '{');
	json_text("file", inspection->name);
	json_text("kind", lazycuda_kind_name(inspection->kind));
	json_text("error", inspection->error);
	json_text("warning", inspection->warning);
	json_integer("fatbins", inspection->fatbin_count);
	json_open("entries", '[');
	for (size_t i = 0; i < inspection->entry_count; i++)
		json_entry(inspection->entries[i]);
	json_close(']');
	json_close('}');
}

/* ---- files ---- */

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
	int status = !inspection || (inspection->error && !can_read(path)) ? 2 : status_of(inspection);

	if (inspection && status == 2)
		complain("inspect", "%s %s", path, inspection->error);
	if (inspection && options->json)
		json_file(inspection);
	else if (!inspection || (status != 2 && !print_file(inspection, options->all))) {
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
