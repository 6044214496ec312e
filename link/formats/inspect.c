/* SPDX-License-Identifier: MIT */
/* inspect.c - the kind of a file or of memory, and the device code in it */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/glibc.h"
#include "../../stubs/base/regular.h"
#include "formats.h"
#include "inspection.h"
#include "../tables/sized.h"
#include "../tables/text.h"

#define MOST_ENTRIES (1 << 20)

/* The default limit on the size to which all code of a file unpacks: so many times the
 * length of the file, or so many bytes if that is more.  Compiler output packs to a third,
 * PTX of templates to a twentieth. */
#define TIMES_UNPACKED 32
#define ALWAYS_UNPACKED ((uint64_t)256 << 20)

/* ---- one entry ---- */

static void merge_number(int *into, int from)
{
	if (from)
		*into = from;
}

/* The code's own header wins; the container's fields stand where the code has none. */
static void merge(struct lazycuda_entry *entry, const struct lazycuda_entry *code)
{
	entry->kind = code->kind;
	/* The container's suffix stands for a code of the same number, which may not tell its own. */
	if (code->suffix || (code->arch && code->arch != entry->arch))
		entry->suffix = code->suffix;
	merge_number(&entry->arch, code->arch);
	merge_number(&entry->toolkit, code->toolkit);
	merge_number(&entry->isa, code->isa);
	entry->level = code->level;
	merge_number(&entry->container, code->container);
	merge_number(&entry->ir, code->ir);
	merge_number(&entry->debug, code->debug);
	merge_number(&entry->llvm, code->llvm);
	merge_number(&entry->abi, code->abi);
	/* For these two flags the code is the authority, not the container. */
	entry->flags &= ~(LAZYCUDA_ENTRY_UNSEEN | LAZYCUDA_ENTRY_RELOCATABLE);
	entry->flags |= code->flags;
	entry->error = code->error;	/* the code is whole, but of no use */
	entry->symbols = code->symbols;
	entry->symbol_count = code->symbol_count;
}

/* Fatbins label OptiX-IR as LTO-IR. */
static bool same_kind(enum lazycuda_kind label, enum lazycuda_kind kind)
{
	return label == kind ||
	       (label == LAZYCUDA_KIND_LTOIR && kind == LAZYCUDA_KIND_OPTIXIR);
}

/* Kinds of code that a container may hold, and that have a reader. */
static bool is_read(enum lazycuda_kind kind)
{
	return kind == LAZYCUDA_KIND_PTX || kind == LAZYCUDA_KIND_CUBIN ||
	       kind == LAZYCUDA_KIND_LTOIR || kind == LAZYCUDA_KIND_OPTIXIR ||
	       kind == LAZYCUDA_KIND_TILEIR;
}

/* Returns NULL, or what is wrong with the code of a kind. */
static const char *read_kind(struct lk_inspection *inspection, const struct lk_part *part,
			     enum lazycuda_kind kind, struct lazycuda_entry *entry)
{
	struct lc_arena *arena = inspection->arena;

	switch (kind) {
	case LAZYCUDA_KIND_PTX:
		return lk_ptx_read(part, arena, entry, inspection->payloads);
	case LAZYCUDA_KIND_CUBIN:
		return lk_cubin_read(part, arena, entry, inspection->payloads);
	case LAZYCUDA_KIND_LTOIR:
	case LAZYCUDA_KIND_OPTIXIR:
		return lk_ltoir_read(part, entry);
	case LAZYCUDA_KIND_TILEIR:
		return lk_tile_read(part, arena, entry);
	case LAZYCUDA_KIND_BITCODE:
		return lk_bitcode_read(part, arena);
	case LAZYCUDA_KIND_LLVMIR:
		if (inspection->payloads)
			lk_llvm_ir_read(part, arena, entry);
		return NULL;
	default:
		return "is neither PTX nor a cubin nor LTO-IR";
	}
}

/* Returns NULL, or what is wrong with the code. */
static const char *read_code(struct lk_inspection *inspection, const struct lk_part *part,
			     struct lazycuda_entry *entry)
{
	enum lazycuda_kind kind = lk_recognise(part);
	struct lazycuda_entry code = { .level = -1 };
	const char *wrong;

	if (kind != LAZYCUDA_KIND_UNKNOWN && !same_kind(entry->kind, kind))
		return lc_format(inspection->arena, "is labelled %s and holds %s",
				 lazycuda_kind_name(entry->kind), lazycuda_kind_name(kind));
	wrong = read_kind(inspection, part, kind, &code);
	if (!wrong)
		merge(entry, &code);
	return wrong;
}

static uint64_t unpack_limit_of(uint64_t length)
{
	const uint64_t most = UINT64_MAX / TIMES_UNPACKED;
	const uint64_t limit = TIMES_UNPACKED * (length < most ? length : most);

	return limit > ALWAYS_UNPACKED ? limit : ALWAYS_UNPACKED;
}

/* Counts the entry and returns NULL, or returns the error if it exceeds the limit. */
static const char *check_limit(struct lk_inspection *inspection, struct lazycuda_entry *entry)
{
	if (entry->unpacked <= inspection->unpack_limit - inspection->unpacked) {
		inspection->unpacked += entry->unpacked;
		return NULL;
	}
	entry->flags |= LAZYCUDA_ENTRY_OVER_LIMIT;
	return lc_format(inspection->arena, "unpacks to %llu bytes (at 0x%llx), which is over the limit;"
			 " with what was unpacked before it that is %llu, and at most %llu are"
			 " unpacked of one file: raise --unpack-limit, or unpack_limit in C",
			 (unsigned long long)entry->unpacked, (unsigned long long)entry->offset,
			 (unsigned long long)(inspection->unpacked + entry->unpacked),
			 (unsigned long long)inspection->unpack_limit);
}

static const char *overlapping(struct lc_arena *arena, const struct lk_budget *budget)
{
	return lc_format(arena, "has parts that are the same bytes, at 0x%llx; to read all of them"
			 " would take more than %d times its length",
			 (unsigned long long)budget->at, LK_TIMES_READ);
}

static const char *read_packed(struct lk_inspection *inspection, struct lazycuda_entry *entry)
{
	const char *wrong = lk_unpack_missing(entry->flags & LAZYCUDA_ENTRY_ZSTD);
	unsigned char *code;
	size_t length;

	if (wrong) {
		inspection->unread = wrong;
		return NULL;
	}
	wrong = check_limit(inspection, entry);
	if (wrong)
		return wrong;
	wrong = lk_payload_load(&inspection->source, entry, true, &code, &length);
	if (wrong == LK_NO_MEMORY)
		inspection->arena->failed = true;
	if (!wrong) {
		struct lk_budget budget = lk_budget_for(length);
		const struct lk_source source = { .bytes = code, .length = length,
						  .budget = &budget };
		const struct lk_part part = { &source, 0, length };

		wrong = read_code(inspection, &part, entry);
		if (budget.spent)
			wrong = overlapping(inspection->arena, &budget);
	}
	free(code);
	return wrong;
}

/* Reads the payload; unpacks it only if the caller wants payloads.  Returns NULL, or what is
 * wrong with it. */
static const char *read_payload(struct lk_inspection *inspection, struct lazycuda_entry *entry)
{
	const struct lk_part part = { &inspection->source, entry->offset, entry->length };

	if (entry->kind == LAZYCUDA_KIND_BITCODE)
		return read_kind(inspection, &part, entry->kind, entry);
	if (!is_read(entry->kind))
		return NULL;
	if (!(entry->flags & LAZYCUDA_ENTRY_UNSEEN))
		return read_code(inspection, &part, entry);
	if (inspection->payloads && entry->flags & LK_PACKED &&
	    !(entry->flags & LAZYCUDA_ENTRY_OBFUSCATED))
		return read_packed(inspection, entry);
	return NULL;
}

static bool add_entry(struct lk_inspection *inspection, struct lazycuda_entry *entry)
{
	size_t *count = &inspection->public.entry_count;
	struct lazycuda_entry **slot;

	if (*count == MOST_ENTRIES)
		return false;
	slot = lc_grow(inspection->arena, &inspection->entries, count, sizeof(*slot));
	if (slot)
		*slot = entry;
	return slot;
}

static void take_entry(struct lazycuda_entry *entry, void *data)
{
	struct lk_inspection *inspection = data;
	const char *wrong;

	if (entry->flags & LK_FOREIGN) {
		if (!inspection->foreign)
			inspection->foreign = entry->error;
		return;
	}
	if (!add_entry(data, entry) || entry->error)
		return;
	wrong = read_payload(data, entry);
	if (wrong)
		entry->error = wrong;
}

/* ---- the whole ---- */

/* Bare code is the only entry of its file, and an error in it is an error of the whole file. */
static const char *read_bare(struct lk_inspection *inspection, const struct lk_part *part)
{
	struct lazycuda_entry *entry = lk_entry_new(inspection->arena, part);
	const char *wrong;

	if (!entry)
		return NULL;
	entry->kind = inspection->public.kind;
	wrong = read_kind(inspection, part, entry->kind, entry);
	if (!wrong)
		add_entry(inspection, entry);
	return wrong;
}

static const char *read_whole(struct lk_inspection *inspection)
{
	const struct lk_part part = { &inspection->source, 0, inspection->source.length };
	const struct lk_walk walk = { inspection->arena, &inspection->public.fatbin_count, take_entry,
				      inspection };
	enum lazycuda_kind kind = lk_recognise(&part);
	lk_container_reader *read = kind == LAZYCUDA_KIND_ARCHIVE ? lk_archive_read :
				    lk_container_reader_of(kind);

	if (kind == LAZYCUDA_KIND_UNKNOWN && inspection->declared == LAZYCUDA_KIND_LLVMIR)
		kind = LAZYCUDA_KIND_LLVMIR;
	inspection->public.kind = kind;
	if (read)
		return read(&part, &walk);
	return is_read(kind) || kind == LAZYCUDA_KIND_BITCODE || kind == LAZYCUDA_KIND_LLVMIR ?
	       read_bare(inspection, &part) : NULL;
}

static const char *warn(struct lk_inspection *inspection)
{
	const char *unread = inspection->unread;

	if (inspection->host_lto && !inspection->public.entry_count)
		return "GCC's LTO keeps all code for the link, device code as well: compile with"
		       " -ffat-lto-objects";
	if (!unread)
		return inspection->foreign;
	return LK_CONCAT(inspection->arena, "some code ", unread, ": its version is not known",
			 inspection->foreign ? "; " : "", inspection->foreign ? inspection->foreign : "");
}

/* ---- begin and end ---- */

static struct lk_inspection *make_inspection(struct lc_arena *arena, const char *name,
					     unsigned flags, uint64_t unpack_limit)
{
	struct lk_inspection *inspection = lc_alloc(arena, sizeof(*inspection));

	if (!inspection)
		return NULL;
	inspection->arena = arena;
	inspection->source.fd = -1;
	inspection->source.error = &inspection->read_error;
	inspection->source.host_lto = &inspection->host_lto;
	inspection->payloads = flags & LAZYCUDA_INSPECT_PAYLOADS;
	inspection->unpack_limit = unpack_limit;
	inspection->public.size = sizeof(inspection->public);
	inspection->public.name = name ? lc_copy(arena, name, strlen(name)) : NULL;
	return inspection;
}

/* `wrong` is an error from before the first read, or NULL. */
static struct lazycuda_inspection *finish(struct lk_inspection *inspection, const char *wrong)
{
	struct lazycuda_inspection *public = &inspection->public;
	struct lk_block block;

	block.length = 0;
	public->length = inspection->source.length;
	if (!inspection->unpack_limit)
		inspection->unpack_limit = unpack_limit_of(public->length);
	inspection->budget = lk_budget_for(public->length);
	inspection->source.budget = &inspection->budget;
	inspection->source.block = &block;
	public->error = wrong ? wrong : read_whole(inspection);
	lk_tell_sources(inspection->arena, inspection->entries, public->entry_count,
			&public->fatbin_count);
	/* From here on only the caller asks for reads, from any thread and without a limit. */
	inspection->source.budget = NULL;
	inspection->source.block = NULL;
	if (inspection->budget.spent)
		public->error = overlapping(inspection->arena, &inspection->budget);
	errno = inspection->read_error;
	if (errno)	/* takes precedence: other errors may follow from it */
		public->error = lc_format(inspection->arena, "cannot be read: %m");
	if (!public->error && public->entry_count == MOST_ENTRIES)
		public->error = "has more entries than any file";
	public->warning = warn(inspection);
	public->entries = (const struct lazycuda_entry *const *)inspection->entries;
	if (!inspection->arena->failed)
		return public;
	lk_inspection_close(public);
	return NULL;
}

const char *lk_bytes_wrong(const struct lazycuda_input *input)
{
	if (input->bytes ? input->length : input->path != NULL)
		return NULL;
	return input->bytes ? "is empty" : input->length ? "has a length but no bytes" :
	       "has neither bytes nor a path";
}

/* Returns NULL, or what is wrong with the bytes. */
static const char *take_bytes(struct lk_inspection *inspection, const struct lazycuda_input *input)
{
	inspection->source.bytes = input->bytes;
	inspection->source.length = input->bytes ? input->length : 0;
	return lk_bytes_wrong(input);
}

/* Returns NULL, or why the file cannot be read. */
static const char *open_file(struct lk_inspection *inspection, const char *path)
{
	struct lk_source *source = &inspection->source;
	const char *why;
	struct stat st;

	source->fd = lc_open_regular(path, &st);
	if (source->fd < 0) {
		why = lc_why_not_opened(errno);
		return why ? why : lc_format(inspection->arena, "cannot be opened: %m");
	}
	source->length = (uint64_t)st.st_size;
	return source->length ? NULL : "is empty";
}

struct lazycuda_inspection *lk_inspect_input(struct lc_arena *arena,
					     const struct lazycuda_input *input, unsigned flags,
					     uint64_t unpack_limit)
{
	bool bytes = input->bytes || !input->path;
	struct lk_inspection *inspection = make_inspection(arena, bytes ? input->name : input->path,
							   flags, unpack_limit);

	if (!inspection)
		return NULL;
	inspection->declared = input->kind;
	return finish(inspection, bytes ? take_bytes(inspection, input) :
					  open_file(inspection, input->path));
}

void lk_inspection_close(struct lazycuda_inspection *public)
{
	struct lk_source *source = public ? &((struct lk_inspection *)public)->source : NULL;

	if (source && source->fd >= 0)
		close(source->fd);
}

/* ---- for callers ---- */

/* lk_inspect_input() in an arena of the inspection's own. */
static struct lazycuda_inspection *inspect_alone(const struct lazycuda_input *input,
						 unsigned flags, uint64_t unpack_limit)
{
	struct lc_arena *arena = lc_arena_new();
	struct lazycuda_inspection *inspection =
		arena ? lk_inspect_input(arena, input, flags, unpack_limit) : NULL;

	if (!inspection)
		lc_arena_free(arena);
	return inspection;
}

struct lazycuda_inspection *lazycuda_inspect(const void *bytes, size_t length, const char *name,
					     unsigned flags)
{
	const struct lazycuda_input input = { .bytes = bytes, .length = length, .name = name };

	return inspect_alone(&input, flags, 0);
}

struct lazycuda_inspection *lazycuda_inspect_file(const char *path, unsigned flags)
{
	/* NULL is a file that cannot be opened, not memory. */
	const struct lazycuda_input input = { .path = path ? path : "" };

	return inspect_alone(&input, flags, 0);
}

struct lazycuda_inspection *lazycuda_inspect_input(const struct lazycuda_input *from,
						   unsigned flags, uint64_t unpack_limit)
{
	struct lazycuda_input input;

	lk_sized_copy(&input, sizeof(input), from);
	return inspect_alone(&input, flags, unpack_limit);
}

void lazycuda_inspection_free(struct lazycuda_inspection *public)
{
	if (!public)
		return;
	lk_inspection_close(public);
	lc_arena_free(((struct lk_inspection *)public)->arena);
}
