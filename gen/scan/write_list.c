/* SPDX-License-Identifier: MIT */
/* write_list.c - writes symbols.txt atomically */
#include "scanner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Columns are fixed: a longer name changes its own line, not the whole file. */
#define FUNCTION_COLUMN 52
#define RANGE_COLUMN 14
#define FIELD_COLUMN 48

/* ---- library ---- */

static void write_sonames(FILE *out, const struct scan *scan, const struct subject *library)
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

/* The folder of a hint holds in versions that need not all be among the toolkits. */
static void write_folders(FILE *out, const struct scan *scan, const struct subject *library)
{
	for (size_t i = 0; i < library->folders.count; i++) {
		const struct hint *hint = library->folders.items[i];
		toolkits in = 0;

		for (int toolkit = 0; toolkit < scan->count; toolkit++)
			if (in_ranges(&hint->ranges, scan->versions[toolkit]))
				in |= BIT(toolkit);
		if (in)
			fprintf(out, "    folder %s %s\n", hint->words[0], range_text(scan, in));
	}
}

static void write_library(FILE *out, const struct scan *scan, const struct subject *library)
{
	fprintf(out, "\nlibrary %s\n", library->name);
	fprintf(out, "    stub %s\n", library->stub);
	write_sonames(out, scan, library);
	if (library->without_majors)
		fputs("    majors none\n", out);
	if (library->own_majors)
		fputs("    majors own\n", out);
	for (size_t i = 0; i < library->cuda_of.count; i++)
		fprintf(out, "    cuda %s\n", (char *)library->cuda_of.items[i]);
	for (size_t i = 0; i < library->called.count; i++)
		fprintf(out, "    called %s\n", (char *)library->called.items[i]);
	for (size_t i = 0; i < library->ships.count; i++)
		fprintf(out, "    ships %s\n", (char *)library->ships.items[i]);
	for (size_t i = 0; i < library->opens.count; i++)
		fprintf(out, "    opens %s\n", (char *)library->opens.items[i]);
	if (library->nodes_row)
		fprintf(out, "    nodes %s\n", library->nodes_row);
	for (size_t i = 0; i < library->variables.count; i++)
		fprintf(out, "    data %s\n", (char *)library->variables.items[i]);
	if (library->compat)
		fprintf(out, "    compat %s\n", library->compat);
	if (library->witness)
		fprintf(out, "    witness %s\n", library->witness);
	write_hints(out, "node", &library->nodes);
	write_folders(out, scan, library);
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
	for (size_t i = 0; i < library->reserved.count; i++)
		fprintf(out, "%s %s", i ? "" : "    reserved",
			((const struct hint *)library->reserved.items[i])->words[0]);
	if (library->reserved.count)
		fputc('\n', out);
}

/* ---- enumeration ---- */

static int compare_values(const void *a, const void *b)
{
	const struct enumerator *one = *(struct enumerator *const *)a;
	const struct enumerator *other = *(struct enumerator *const *)b;

	if (one->value != other->value)
		return one->value < other->value ? -1 : 1;
	return strcmp(one->name, other->name);
}

static void add_value(struct list *values, const struct enumerator *enumerator, int toolkit)
{
	struct enumerator *value;

	for (size_t i = 0; i < values->count; i++) {
		value = values->items[i];
		if (value->name != enumerator->name || value->value != enumerator->value)
			continue;
		value->in |= BIT(toolkit);
		return;
	}
	value = allocate(1, sizeof(*value));
	*value = (struct enumerator){ .name = enumerator->name, .value = enumerator->value,
				      .in = BIT(toolkit) };
	list_add(values, value);
}

static void write_enum(FILE *out, const struct scan *scan, const struct subject *library)
{
	struct list values = { 0 };

	for (int toolkit = 0; toolkit < scan->count; toolkit++) {
		const struct map *found = map_get(&library->headers[toolkit].enums, library->status);

		if (!library->exports[toolkit].count || (library->given && !found))
			continue;
		if (!found)
			fail_at(library->position, "no header of %d.%d defines enum %s",
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
		const struct enumerator *value = values.items[i];

		fprintf(out, "    %-*s %5d   %s\n", FIELD_COLUMN, value->name, value->value,
			range_text(scan, value->in));
	}
}

/* ---- structs ---- */

struct ranged_leaf {
	const struct leaf *leaf;
	toolkits in;
};

static int compare_fields(const void *a, const void *b)
{
	const struct ranged_leaf *one = *(struct ranged_leaf *const *)a;
	const struct ranged_leaf *other = *(struct ranged_leaf *const *)b;
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
	return a->name == b->name && a->offset == b->offset && same_type(a->type, b->type);
}

static void add_field(struct list *fields, const struct leaf *leaf, int toolkit)
{
	struct ranged_leaf *field;

	for (size_t i = 0; i < fields->count; i++) {
		field = fields->items[i];
		if (!same_field(field->leaf, leaf))
			continue;
		field->in |= BIT(toolkit);
		return;
	}
	field = allocate(1, sizeof(*field));
	field->leaf = leaf;
	field->in = BIT(toolkit);
	list_add(fields, field);
}

/* Returns true if the row of toolkit `i` also covers toolkit `j`, a later one that has the
 * struct. */
static bool same_size_row(const struct used_record *record, int i, int j)
{
	return record->layouts[i]->size == record->layouts[j]->size &&
	       record->letters[i] == record->letters[j] &&
	       !record->tail[j] && !record->overlaid[j];
}

static void write_sizes(FILE *out, const struct scan *scan, const struct used_record *record)
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
static void write_origin(FILE *out, const struct subject *library, const struct used_record *record)
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

static void write_record(FILE *out, const struct scan *scan, const struct subject *library,
			 const struct used_record *record)
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
		const struct ranged_leaf *field = fields.items[i];
		const struct leaf *leaf = field->leaf;

		fprintf(out, "    .%-*s %-10s %5u   %s\n", FIELD_COLUMN - 1, leaf->name,
			type_text(leaf->type), leaf->offset, range_text(scan, field->in));
	}
}

static int compare_records(const void *a, const void *b)
{
	const struct used_record *one = *(struct used_record *const *)a;
	const struct used_record *other = *(struct used_record *const *)b;

	return strcmp(one->name, other->name);
}

static void write_records(FILE *out, const struct scan *scan, const struct subject *library)
{
	struct list records = library->records.values;

	if (records.count)
		qsort(records.items, records.count, sizeof(*records.items), compare_records);
	for (size_t i = 0; i < records.count; i++)
		write_record(out, scan, library, records.items[i]);
}

/* ---- functions ---- */

static void write_row(FILE *out, const struct scan *scan, const struct derived_row *derived)
{
	const struct row *row = &derived->row;

	fprintf(out, "    %-*s %-*s %s", FUNCTION_COLUMN, row->name, RANGE_COLUMN,
		range_text(scan, row->in), derived->signature);
	if (row->family != row->name)
		fprintf(out, " family %s", row->family);
	if (row->hook)
		fprintf(out, row->slow ? " hook slow" : " hook");
	if (row->text)
		fprintf(out, " text");
	if (row->negative)
		fprintf(out, " negative");
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
		const struct subject *library = scan->libraries.items[i];

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

/* A list that gen would refuse is not put in place.  The temporary file stays, because the message
 * names a line of it. */
static void check_written(const char *temporary)
{
	struct symbols list = { 0 };
	const char *written = unfinished;

	unfinished = NULL;
	read_list(&list, temporary);
	unfinished = written;
}

void write_list(struct scan *scan, const char *head, const char *path)
{
	const char *temporary = format("%s.%ld.tmp", path, (long)getpid());
	FILE *out = fopen(temporary, "w");

	if (!out)
		fail(temporary, "%s", strerror(errno));
	unfinished = temporary;
	atexit(remove_unfinished);
	write_all(out, scan, head);
	if (fflush(out) || ferror(out))
		fail(path, "%s", strerror(errno));
	fclose(out);
	check_written(temporary);
	if (rename(temporary, path))
		fail(path, "%s", strerror(errno));
	unfinished = NULL;
}
