/* SPDX-License-Identifier: MIT */
/* write.c - writes symbols.txt atomically */
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Columns are fixed: a longer name changes its own line, not the whole file. */
#define FUNCTION_COLUMN 52
#define RANGE_COLUMN 14
#define FIELD_COLUMN 48

/* ---- library ---- */

static void write_sonames(FILE *out, const struct scan *scan, const struct library *library)
{
	for (int i = 0; i < scan->count; i++) {
		const char *soname = library->exports[i].soname;
		toolkits in = 0;
		bool first = true;

		if (!soname)
			continue;
		for (int j = 0; j < scan->count; j++) {
			if (library->exports[j].soname != soname)
				continue;
			first = first && j >= i;
			in |= BIT(j);
		}
		if (first)
			fprintf(out, "    soname %s %s\n", soname, range_text(scan, in));
	}
}

static void write_hints(FILE *out, const char *key, const struct list *hints)
{
	for (size_t i = 0; i < hints->count; i++) {
		const struct hint *hint = hints->items[i];

		fprintf(out, "    %s", key);
		for (size_t j = 0; j < hint->count; j++)
			fprintf(out, " %s", hint->words[j]);
		fputc('\n', out);
	}
}

static void write_library(FILE *out, const struct scan *scan, const struct library *library)
{
	fprintf(out, "\nlibrary %s\n", library->name);
	fprintf(out, "    stub %s\n", library->stub);
	write_sonames(out, scan, library);
	if (library->without_majors)
		fputs("    majors none\n", out);
	if (library->own_majors)
		fputs("    majors own\n", out);
	if (library->nodes_row)
		fprintf(out, "    nodes %s\n", library->nodes_row);
	if (library->witness)
		fprintf(out, "    witness %s\n", library->witness);
	write_hints(out, "node", &library->nodes);
	write_hints(out, "folder", &library->folders);
	write_hints(out, "package", &library->packages);
	write_hints(out, "home", &library->homes);
	if (library->variable)
		fprintf(out, "    variable %s\n", library->variable);
	write_hints(out, "companion", &library->companions);
	if (library->advice)
		fprintf(out, "    advice %s\n", library->advice);
	write_hints(out, "error", &library->errors);
	if (library->status)
		fprintf(out, "    status %s\n", library->status);
}

/* ---- enumeration ---- */

struct value {
	const char *name;
	int64_t value;
	toolkits in;
};

static int compare_values(const void *a, const void *b)
{
	const struct value *one = *(struct value *const *)a, *other = *(struct value *const *)b;

	if (one->value != other->value)
		return one->value < other->value ? -1 : 1;
	return strcmp(one->name, other->name);
}

static void add_value(struct list *values, const struct enumerator *enumerator, int toolkit)
{
	struct value *value;

	for (size_t i = 0; i < values->count; i++) {
		value = values->items[i];
		if (value->name != enumerator->name || value->value != enumerator->value)
			continue;
		value->in |= BIT(toolkit);
		return;
	}
	value = scan_alloc(sizeof(*value));
	*value = (struct value){ enumerator->name, enumerator->value, BIT(toolkit) };
	list_add(values, value);
}

static void write_enum(FILE *out, const struct scan *scan, const struct library *library)
{
	struct list values = { 0 };

	for (int toolkit = 0; toolkit < scan->count; toolkit++) {
		const struct map *found = map_get(&library->headers[toolkit].enums, library->status);

		if (!library->exports[toolkit].count || (library->given && !found))
			continue;
		if (!found)
			fail_at(library->place, "no header of %d.%d defines enum %s",
				MAJOR(scan->versions[toolkit]), MINOR(scan->versions[toolkit]),
				library->status);
		for (size_t i = 0; i < found->values.count; i++)
			add_value(&values, found->values.items[i], toolkit);
	}
	if (!values.count)
		return;
	qsort(values.items, values.count, sizeof(*values.items), compare_values);
	fprintf(out, "\nenum %s\n", library->status);
	for (size_t i = 0; i < values.count; i++) {
		const struct value *value = values.items[i];

		fprintf(out, "    %-*s %5lld   %s\n", FIELD_COLUMN, value->name,
			(long long)value->value, range_text(scan, value->in));
	}
}

/* ---- structs ---- */

struct field {
	const struct leaf *leaf;
	toolkits in;
};

static int compare_fields(const void *a, const void *b)
{
	const struct field *one = *(struct field *const *)a, *other = *(struct field *const *)b;
	toolkits only = one->in ^ other->in;

	if (one->leaf->offset != other->leaf->offset)
		return one->leaf->offset < other->leaf->offset ? -1 : 1;
	/* Of the toolkits that have only one of the two, the oldest decides. */
	if (only)
		return one->in & only & -only ? -1 : 1;
	return strcmp(one->leaf->name, other->leaf->name);
}

static bool same_field(const struct leaf *a, const struct leaf *b)
{
	return a->name == b->name && a->offset == b->offset && a->type.base == b->type.base &&
	       a->type.pointer == b->type.pointer && a->type.count == b->type.count &&
	       a->type.record == b->type.record;
}

static void add_field(struct list *fields, const struct leaf *leaf, int toolkit)
{
	struct field *field;

	for (size_t i = 0; i < fields->count; i++) {
		field = fields->items[i];
		if (!same_field(field->leaf, leaf))
			continue;
		field->in |= BIT(toolkit);
		return;
	}
	field = scan_alloc(sizeof(*field));
	field->leaf = leaf;
	field->in = BIT(toolkit);
	list_add(fields, field);
}

/* Returns true if the row of toolkit `i` also covers toolkit `j`, a later one that has the
 * struct. */
static bool same_size_row(const struct record *record, int i, int j)
{
	return record->layouts[i]->size == record->layouts[j]->size &&
	       record->letters[i] == record->letters[j] &&
	       !record->tail[j] && !record->overlaid[j];
}

static void write_sizes(FILE *out, const struct scan *scan, const struct record *record)
{
	for (int first = 0, next; first < scan->count; first = next) {
		toolkits in = BIT(first);

		next = first + 1;
		if (!record->layouts[first])
			continue;
		for (; next < scan->count; next++) {
			if (!record->layouts[next])
				continue;
			if (!same_size_row(record, first, next))
				break;
			in |= BIT(next);
		}
		fprintf(out, "    size %u %s layout %c%s%s\n", record->layouts[first]->size,
			range_text(scan, in), 'A' + record->letters[first],
			record->tail[first] ? " tail" : "", record->overlaid[first] ? " union" : "");
	}
}

/* Writes the header's name of a struct that a hint renamed. */
static void write_origin(FILE *out, const struct library *library, const struct record *record)
{
	for (size_t i = 0; i < library->layouts.count; i++) {
		const struct hint *hint = library->layouts.items[i];
		bool said = false;

		if (strcmp(hint->words[4], record->name))
			continue;
		for (size_t j = 0; j < i && !said; j++) {
			const struct hint *other = library->layouts.items[j];

			said = other->words[1] == hint->words[1] && other->words[2] == hint->words[2] &&
			       other->words[3] == hint->words[3] && other->words[4] == hint->words[4];
		}
		if (!said)
			fprintf(out, "    # %s: %s in the headers%s%s\n", hint->words[1],
				hint->words[2], hint->as_of ? " of " : "",
				hint->as_of ? hint->words[3] : "");
	}
}

static void write_record(FILE *out, const struct scan *scan, const struct library *library,
			 const struct record *record)
{
	struct list fields = { 0 };

	fprintf(out, "\nstruct %s\n", record->name);
	write_origin(out, library, record);
	write_sizes(out, scan, record);
	for (int toolkit = 0; toolkit < scan->count; toolkit++)
		for (size_t i = 0; record->layouts[toolkit] &&
				   i < record->layouts[toolkit]->count; i++)
			add_field(&fields, &record->layouts[toolkit]->leaves[i], toolkit);
	qsort(fields.items, fields.count, sizeof(*fields.items), compare_fields);
	for (size_t i = 0; i < fields.count; i++) {
		const struct field *field = fields.items[i];
		const struct leaf *leaf = field->leaf;

		fprintf(out, "    .%-*s %-10s %5u   %s\n", FIELD_COLUMN - 1, leaf->name,
			type_text(leaf->type), leaf->offset, range_text(scan, field->in));
	}
}

static int compare_records(const void *a, const void *b)
{
	const struct record *one = *(struct record *const *)a, *other = *(struct record *const *)b;

	return strcmp(one->name, other->name);
}

static void write_records(FILE *out, const struct scan *scan, const struct library *library)
{
	struct list records = library->records.values;

	if (records.count)
		qsort(records.items, records.count, sizeof(*records.items), compare_records);
	for (size_t i = 0; i < records.count; i++)
		write_record(out, scan, library, records.items[i]);
}

/* ---- functions ---- */

static void write_row(FILE *out, const struct scan *scan, const struct row *row)
{
	fprintf(out, "    %-*s %-*s %s", FUNCTION_COLUMN, row->name, RANGE_COLUMN,
		range_text(scan, row->in), row->signature);
	if (row->family)
		fprintf(out, " family %s", row->family);
	if (row->hook)
		fprintf(out, " hook");
	if (row->text)
		fprintf(out, " text");
	if (row->apart)
		fprintf(out, " apart");
	if (row->undeclared)
		fprintf(out, " undeclared");
	fputc('\n', out);
}

static void write_all(FILE *out, const struct scan *scan, const char *head)
{
	fputs(head, out);
	fputs("\ntoolkits", out);
	for (int i = 0; i < scan->count; i++)
		fprintf(out, " %d.%d", MAJOR(scan->versions[i]), MINOR(scan->versions[i]));
	fputc('\n', out);
	for (size_t i = 0; i < scan->libraries.count; i++) {
		const struct library *library = scan->libraries.items[i];

		if (!library->names.keys.count)
			continue;
		write_library(out, scan, library);
		if (library->status)
			write_enum(out, scan, library);
		write_records(out, scan, library);
		fputs("\nfunctions\n", out);
		for (size_t j = 0; j < library->rows.count; j++)
			write_row(out, scan, library->rows.items[j]);
	}
}

/* Temporary file, removed if the program exits before the rename. */
static const char *unfinished;

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
}

void write_list(struct scan *scan, const char *head, const char *path)
{
	const char *temporary = scan_format("%s.%ld.tmp", path, (long)getpid());
	FILE *out = fopen(temporary, "w");

	if (!out)
		fail(temporary, "%s", strerror(errno));
	unfinished = temporary;
	atexit(remove_unfinished);
	write_all(out, scan, head);
	if (fflush(out) || ferror(out))
		fail(path, "%s", strerror(errno));
	fclose(out);
	if (rename(temporary, path))
		fail(path, "%s", strerror(errno));
	unfinished = NULL;
}
