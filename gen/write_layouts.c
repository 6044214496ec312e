/* SPDX-License-Identifier: MIT */
/*
 * write_layouts.c - writes the layouts of structs, for adaptors
 *
 * An adaptor that converts a struct between two layouts copies the fields that
 * both have, matched by name.  The list gives the tables of byte ranges to copy;
 * the adaptor knows what the fields mean.
 */
#include "writers.h"

#include <stdlib.h>
#include <string.h>

/* One layout of a struct, with its fields. */
struct layout {
	const struct record *record;
	const struct size *size;
	unsigned toolkit;
	const struct field **fields;	/* sorted by name */
	size_t count;
};

typedef ARRAY(struct layout) layouts;

static int by_name(const void *a, const void *b)
{
	const struct field *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

/* The toolkits in which the struct has this layout. */
static toolkits having(const struct record *record, char letter)
{
	toolkits in = 0;

	for (size_t i = 0; i < record->sizes.count; i++)
		if (record->sizes.items[i].letter == letter)
			in |= record->sizes.items[i].in;
	return in;
}

static struct layout layout_of(const struct plan *plan, const struct record *record,
			       const struct size *size)
{
	/* Of interchangeable layouts, the newest has all the fields. */
	toolkits known = having(record, size->letter) & (BIT(plan->list->toolkit_count) - 1);
	struct layout layout = {
		record, size, last_bit(known), allocate(record->fields.count + 1, sizeof(void *)), 0,
	};

	for (size_t i = 0; i < record->fields.count; i++)
		if (record->fields.items[i].in & BIT(layout.toolkit))
			layout.fields[layout.count++] = &record->fields.items[i];
	qsort(layout.fields, layout.count, sizeof(*layout.fields), by_name);
	return layout;
}

static void write_offsets(struct text *h, const struct plan *plan, const struct layout *layout)
{
	const char *name = layout->record->name;
	char letter = layout->size->letter;

	put(h, "\n/* struct %s as of %s */\n", name, bit_text(plan->list, layout->toolkit));
	put(h, "enum {\n\tLC_SIZE_%s_%c = %u,\n", name, letter, layout->size->bytes);
	for (size_t i = 0; i < layout->count; i++)
		put(h, "\tLC_AT_%s_%c_%s = %u,\n", name, letter, identifier(layout->fields[i]),
		    layout->fields[i]->offset);
	put(h, "};\n");
}

/* ---- conversions ---- */

/* A range of bytes that one layout copies from another. */
struct run {
	unsigned to, from, size;
};

typedef ARRAY(struct run) runs;

static int by_target(const void *a, const void *b)
{
	const struct run *left = a, *right = b;

	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

/* Merges runs that are shifted by the same distance and touch or overlap. */
static void join(runs *runs)
{
	size_t kept = 0;

	if (runs->count)	/* qsort() takes no NULL */
		qsort(runs->items, runs->count, sizeof(*runs->items), by_target);
	for (size_t i = 0; i < runs->count; i++) {
		struct run *last = kept ? &runs->items[kept - 1] : NULL, run = runs->items[i];

		if (last && run.to - last->to == run.from - last->from &&
		    run.to <= last->to + last->size) {
			if (run.to + run.size > last->to + last->size)
				last->size = run.to + run.size - last->to;
		} else {
			runs->items[kept++] = run;
		}
	}
	runs->count = kept;
}

/* The field of the same name in `layout`, or NULL.  Reserved fields never match: each
 * layout has its own. */
static const struct field *common(const struct library *library, const struct layout *layout,
				  const struct field *field)
{
	const struct field **found = is_reserved(library, field->name) ? NULL :
		bsearch(&field, layout->fields, layout->count, sizeof(*layout->fields), by_name);

	return found ? *found : NULL;
}

static unsigned smaller_size(const struct field *target, const struct layout *to,
			     const struct field *source, const struct layout *from)
{
	unsigned wide = field_bytes(target, to->toolkit), narrow = field_bytes(source, from->toolkit);

	return wide < narrow ? wide : narrow;
}

static runs copies(const struct library *library, const struct layout *to,
		   const struct layout *from)
{
	runs runs = { 0 };

	for (size_t i = 0; i < to->count; i++) {
		const struct field *target = to->fields[i], *source = common(library, from, target);

		if (source)
			*push(&runs) = (struct run){ target->offset, source->offset,
				smaller_size(target, to, source, from) };
	}
	join(&runs);
	return runs;
}

static void write_lost(struct text *h, const struct layout *from, const runs *copied)
{
	enum { NOBODYS, A_FIELDS, CARRIED };	/* NOBODYS: padding, which may hold anything */
	unsigned end = from->size->bytes, start = 0;
	char *bytes = allocate(end + 1, 1);

	for (size_t i = 0; i < from->count; i++)
		memset(bytes + from->fields[i]->offset, A_FIELDS,
		       field_bytes(from->fields[i], from->toolkit));
	for (size_t i = 0; i < copied->count; i++)
		memset(bytes + copied->items[i].from, CARRIED, copied->items[i].size);
	for (unsigned at = 0; at <= end; at++) {
		if (bytes[at] == A_FIELDS)
			continue;
		if (at > start)
			put(h, "\t\t{ %u, %u },\n", start, at - start);
		start = at + 1;
	}
}

/* Numbers the fields of all layouts of the struct from 1; 0 is no field. */
static void write_numbers(struct text *h, const struct record *record)
{
	const struct field **fields = allocate(record->fields.count + 1, sizeof(*fields));

	for (size_t i = 0; i < record->fields.count; i++)
		fields[i] = &record->fields.items[i];
	qsort(fields, record->fields.count, sizeof(*fields), by_name);
	put(h, "\n/* The fields that struct %s has had */\nenum {\n", record->name);
	for (size_t i = 0; i < record->fields.count; i++)
		if (!i || strcmp(fields[i]->name, fields[i - 1]->name))
			put(h, "\tLC_NUMBER_%s_%s = %zu,\n", record->name,
			    identifier(fields[i]), i + 1);
	put(h, "\tLC_NUMBERS_%s = %zu\n};\n", record->name, record->fields.count + 1);
}

static void write_conversion(struct text *h, const struct library *library,
			     const struct layout *to, const struct layout *from)
{
	const runs copied = copies(library, to, from);

	put(h, "\nLC_CONVERSION(%s_%c, %s_%c) = {\n\t.to = %u, .from = %u,\n", to->record->name,
	    to->size->letter, from->record->name, from->size->letter, to->size->bytes,
	    from->size->bytes);
	put(h, "\t.copies = (const struct lc_copy[]){\n");
	for (size_t i = 0; i < copied.count; i++)
		put(h, "\t\t{ %u, %u, %u },\n", copied.items[i].to, copied.items[i].from,
		    copied.items[i].size);
	put(h, "\t\t{ 0 }\n\t},\n\t.lost = (const struct lc_lost[]){\n");
	write_lost(h, from, &copied);
	put(h, "\t\t{ 0 }\n\t},\n\t.missing = (const struct lc_missing[]){\n");
	for (size_t i = 0; i < to->count; i++)
		if (!common(library, from, to->fields[i]) &&
		    !is_reserved(library, to->fields[i]->name))
			put(h, "\t\t{ LC_NUMBER_%s_%s, %u },\n", to->record->name,
			    identifier(to->fields[i]), to->fields[i]->offset);
	put(h, "\t\t{ 0 }\n\t},\n};\n");
}

/* Returns true if `b` is `a` or `a` with a version: "cudaTextureDesc_v1" names a layout
 * of "cudaTextureDesc". */
static bool akin(const char *a, const char *b)
{
	size_t length = strlen(a);

	return !strncmp(a, b, length) &&
	       (!b[length] || (!strncmp(b + length, "_v", 2) &&
			       !b[length + 2 + strspn(b + length + 2, "0123456789")]));
}

static bool has_one_layout(const struct record *record)
{
	for (size_t i = 1; i < record->sizes.count; i++)
		if (record->sizes.items[i].letter != record->sizes.items[0].letter)
			return false;
	return true;
}

/* If S has several layouts, S_v1 is only another name for one of them: S then converts
 * between its own layouts alone. */
static bool converts(const struct layout *a, const struct layout *b)
{
	const struct record *left = a->record, *right = b->record;

	if (a == b || !a->count || !b->count)
		return false;
	return left == right || (has_one_layout(left) && has_one_layout(right) &&
				 (akin(left->name, right->name) || akin(right->name, left->name)));
}

static void write_conversions(struct text *h, const struct library *library, const layouts *all)
{
	const struct record *numbered = NULL;

	for (size_t t = 0; t < all->count; t++)
		for (size_t f = 0; f < all->count; f++) {
			if (!converts(&all->items[t], &all->items[f]))
				continue;
			if (numbered != all->items[t].record)
				write_numbers(h, numbered = all->items[t].record);
			write_conversion(h, library, &all->items[t], &all->items[f]);
		}
}

static layouts layouts_of(const struct plan *plan)
{
	const struct library *library = plan->library;
	layouts all = { 0 };

	for (size_t i = 0; i < library->records.count; i++) {
		const struct record *record = &library->records.items[i];
		char done[27] = "";

		for (size_t s = 0; s < record->sizes.count; s++) {
			const struct size *size = &record->sizes.items[s];

			if (strchr(done, size->letter))
				continue;
			strncat(done, &size->letter, 1);
			*push(&all) = layout_of(plan, record, size);
		}
	}
	return all;
}

void write_layouts(struct files *files, const struct plan *plan)
{
	const layouts all = layouts_of(plan);
	struct text *h;

	if (!all.count)
		return;
	h = new_file(files, plan, ".layouts.h", "/* ", " */");
	put(h, "#include \"entry/layout.h\"\n");
	for (size_t i = 0; i < all.count; i++)
		write_offsets(h, plan, &all.items[i]);
	write_conversions(h, plan->library, &all);
}
