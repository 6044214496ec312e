/* SPDX-License-Identifier: MIT */
/* inspect_report.c - prints an inspection as text or JSON */
#include "inspect_report.h"

#include <stdio.h>
#include <string.h>

#include "../link/tables/versions.h"
#include "../stubs/base/arena.h"
#include "json.h"

#define MANY 16		/* entries; from this number on, entries that are alike are counted */
#define MOST_GROUPS 1024
#define CELL 24

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

#define FLAG_WORDS (sizeof(flag_words) / sizeof(*flag_words))

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

bool inspect_print(const struct lazycuda_inspection *inspection, bool all)
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

void inspect_print_json(const struct lazycuda_inspection *inspection)
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
