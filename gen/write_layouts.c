/* SPDX-License-Identifier: MIT */
/*
 * write_layouts.c - the layouts of structs, for adaptors
 *
 * An adaptor that converts a struct between two layouts copies the fields that
 * both have, by name.  The tables for that come from the list; what a field
 * means is the adaptor's own affair.
 */
#include "write.h"

#include <stdlib.h>
#include <string.h>

static unsigned field_size(const struct field *field, unsigned toolkit)
{
	const struct type *type = &field->type;
	unsigned size;

	if (type->pointer)
		size = kind_sizes[PTR];
	else if (type->kind == STRUCT)
		size = size_in(type->record, toolkit)->bytes;
	else
		size = kind_sizes[type->kind];
	return size * type->count;
}

/* A field's name without the dot that it begins with in the list. */
static const char *plain(const char *name)
{
	return name + (name[0] == '.');
}

/* The name of a flattened member as an identifier. */
static char *identifier(const char *name)
{
	char *text = format("%s", plain(name));

	for (char *c = text; *c; c++)
		if (*c == '.')
			*c = '_';
	return text;
}

static int by_name(const void *a, const void *b)
{
	const struct field *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

/* "reserved", "reserved1", "params.nvSciSync.reserved", "unused", "pad" and the
 * like; but reservedSharedMemPerBlock is a property. */
static bool is_reserved(const char *name)
{
	static const char *const words[] = { "reserved", "unused", "padding", "pad", "__pad" };
	const char *dot = strrchr(name, '.');

	name = dot ? dot + 1 : name;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if (!strncmp(name, words[i], length) &&
		    name[length + strspn(name + length, "0123456789")] == 0)
			return true;
	}
	return false;
}

/* What tells a field from all others that the struct ever had, and orders them
 * by name. */
static size_t number_of(const struct record *record, const struct field *field)
{
	size_t number = 0;

	for (size_t i = 0; i < record->fields.count; i++)
		number += strcmp(record->fields.items[i].name, field->name) < 0;
	return number;
}

/* All toolkits in which the struct has this layout. */
static toolkits having(const struct record *record, char letter)
{
	toolkits in = 0;

	for (size_t i = 0; i < record->sizes.count; i++)
		if (record->sizes.items[i].letter == letter)
			in |= record->sizes.items[i].in;
	return in;
}

static void write_layout(struct text *h, const struct plan *plan, const struct record *record,
			 const struct size *size)
{
	/* Of interchangeable layouts the newest has all fields. */
	toolkits known = having(record, size->letter) & (BIT(plan->list->toolkit_count) - 1);
	unsigned toolkit = last_bit(known);
	const struct field **fields = allocate(record->fields.count + 1, sizeof(*fields));
	struct text offsets = { 0 }, table = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < record->fields.count; i++)
		if (record->fields.items[i].in & BIT(toolkit))
			fields[count++] = &record->fields.items[i];
	qsort(fields, count, sizeof(*fields), by_name);
	for (size_t i = 0; i < count; i++) {
		add(&offsets, "\tLC_AT_%s_%c_%s = %u,\n", record->name, size->letter,
		    identifier(fields[i]->name), fields[i]->offset);
		add(&table, "\t{ \"%s\", %zu, %u, %u, %d },\n", plain(fields[i]->name),
		    number_of(record, fields[i]), fields[i]->offset,
		    field_size(fields[i], toolkit), is_reserved(fields[i]->name));
	}
	add(h, "\n/* struct %s as of %s */\n", record->name, bit_text(plan->list, toolkit));
	add(h, "enum {\n\tLC_SIZE_%s_%c = %u,\n%s};\n", record->name, size->letter, size->bytes,
	    offsets.length ? offsets.bytes : "");
	if (count)
		add(h, "LC_LAYOUT(%s_%c, %u,\n%s)\n", record->name, size->letter, size->bytes,
		    table.bytes);
}

void write_layouts(struct files *files, const struct plan *plan)
{
	const struct library *library = plan->library;
	struct text *h;

	if (!library->records.count)
		return;
	h = new_file(files, plan, ".layouts.h", "/* ", " */");
	add(h, "#include \"layout.h\"\n");
	for (size_t i = 0; i < library->records.count; i++) {
		const struct record *record = &library->records.items[i];
		char done[27] = "";

		for (size_t s = 0; s < record->sizes.count; s++) {
			const struct size *size = &record->sizes.items[s];

			if (strchr(done, size->letter))
				continue;
			strncat(done, &size->letter, 1);
			write_layout(h, plan, record, size);
		}
	}
}
