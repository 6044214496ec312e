/* SPDX-License-Identifier: MIT */
/* check.c - rejects a list of well-formed lines that is inconsistent or incomplete */
#include "symbols_txt.h"

#include <stdlib.h>
#include <string.h>

static int compare_positions(struct position a, struct position b)
{
	return (a.line > b.line) - (a.line < b.line);
}

/* Records, fields, enumerators and rows begin with a name and its position. */
static int compare_names(const void *one, const void *other)
{
	return strcmp(((const struct word *)one)->text, ((const struct word *)other)->text);
}

static int compare_named(const void *one, const void *other)
{
	int order = compare_names(one, other);

	return order ? order : compare_positions(((const struct word *)one)->position,
						 ((const struct word *)other)->position);
}

static int compare_rows(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	int order = compare_names(one, other);

	if (!order)
		order = (first_bit(a->in) > first_bit(b->in)) - (first_bit(a->in) < first_bit(b->in));
	return order ? order : compare_positions(a->position, b->position);
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

/* Reports two rows that cover the same version. */
static _Noreturn void fail_twice(const struct symbols *list, struct position a, struct position b,
				 toolkits both, const char *what)
{
	struct position first = compare_positions(a, b) < 0 ? a : b;
	struct position second = compare_positions(a, b) < 0 ? b : a;

	fail_at(second, "%s: line %u covers %s already", what, first.line,
		bit_text(list, first_bit(both)));
}

static void *find_named(const char *name, const void *items, size_t count, size_t size)
{
	const struct word key = { .text = name };

	return count ? bsearch(&key, items, count, size, compare_names) : NULL;
}

static struct record *find_record(const struct library *library, const char *name)
{
	return find_named(name, library->records.items, library->records.count, sizeof(struct record));
}

const struct size *size_in(const struct record *record, unsigned toolkit)
{
	for (size_t i = 0; i < record->sizes.count; i++)
		if (record->sizes.items[i].in & BIT(toolkit))
			return &record->sizes.items[i];
	return NULL;
}

/* Finds the struct that a type names.  The struct must have a size in every toolkit of `in`. */
static void resolve(const struct symbols *list, const struct library *library, struct type *type,
		    toolkits in)
{
	if (type->kind != STRUCT)
		return;
	type->record = find_record(library, type->name);
	if (!type->record)
		fail_at(type->position, "no struct %s in library %s", type->name, library->name);
	for (; in; in &= in - 1)
		if (!size_in(type->record, first_bit(in)))
			fail_at(type->position, "struct %s has no size in %s", type->name,
				bit_text(list, first_bit(in)));
}

static void check_sizes(const struct symbols *list, const struct record *record)
{
	if (!record->sizes.count)
		fail_at(record->position, "struct %s has no size", record->name);
	for (size_t i = 0; i < record->sizes.count; i++) {
		const struct size *a = &record->sizes.items[i];

		for (size_t j = 0; j < i; j++) {
			const struct size *b = &record->sizes.items[j];

			if (a->in & b->in)
				fail_twice(list, a->position, b->position, a->in & b->in, "size");
			if (a->letter == b->letter && a->bytes != b->bytes)
				fail_at(a->position, "layout %c has %u bytes here and %u on line %u",
					a->letter, a->bytes, b->bytes, b->position.line);
		}
	}
}

uint64_t field_bytes(const struct field *field, unsigned toolkit)
{
	const struct type *type = &field->type;
	uint64_t each = kind_sizes[PTR];

	if (type->kind != STRUCT)
		each = kind_sizes[type->kind];
	else if (!type->pointer)
		each = size_in(type->record, toolkit)->bytes;
	return each * type->count;
}

static void check_field(const struct symbols *list, const struct library *library,
			const struct record *record, struct field *field)
{
	if (field->type.kind == STRUCT && !field->type.pointer)
		resolve(list, library, &field->type, field->in);
	else if (field->type.kind == STRUCT)
		field->type.record = find_record(library, field->type.name);
	for (toolkits in = field->in; in; in &= in - 1) {
		const struct size *size = size_in(record, first_bit(in));

		if (!size)
			fail_at(field->position, "struct %s has no size in %s", record->name,
				bit_text(list, first_bit(in)));
		if (field->offset + field_bytes(field, first_bit(in)) > size->bytes)
			fail_at(field->position, "%s ends past the %u bytes that the struct has in %s",
				field->name, size->bytes, bit_text(list, first_bit(in)));
	}
}

static void check_record(const struct symbols *list, const struct library *library,
			 struct record *record)
{
	check_sizes(list, record);
	sort(record->fields.items, record->fields.count, sizeof(struct field), compare_named);
	for (size_t i = 0, first = 0; i < record->fields.count; i++) {
		struct field *field = &record->fields.items[i];

		check_field(list, library, record, field);
		if (strcmp(field->name, record->fields.items[first].name))
			first = i;
		for (size_t j = first; j < i; j++)
			if (field->in & record->fields.items[j].in)
				fail_twice(list, field->position, record->fields.items[j].position,
					   field->in & record->fields.items[j].in, field->name);
	}
}

static void check_records(const struct symbols *list, struct library *library)
{
	sort(library->records.items, library->records.count, sizeof(struct record), compare_named);
	for (size_t i = 1; i < library->records.count; i++) {
		const struct record *a = &library->records.items[i - 1], *b = a + 1;

		if (!strcmp(a->name, b->name))
			fail_at(b->position, "struct %s is on line %u already", b->name,
				a->position.line);
	}
	for (size_t i = 0; i < library->records.count; i++)
		check_record(list, library, &library->records.items[i]);
}

static void check_row(const struct symbols *list, const struct library *library, struct row *row)
{
	if (row->in & ~library->in)
		fail_at(row->range_position, "library %s has no soname in %s", library->name,
			bit_text(list, first_bit(row->in & ~library->in)));
	for (size_t i = 0; i < row->params.count; i++)
		resolve(list, library, &row->params.items[i].type, row->in);
	resolve(list, library, &row->result, row->in);
}

/* Any of those with this name: they are of one family. */
static const struct row *find_row(const struct library *library, const char *name)
{
	return find_named(name, library->rows.items, library->rows.count, sizeof(struct row));
}

/* If a function has the family's name, it must be a member of that family. */
static void check_family(const struct library *library, const struct row *row)
{
	const struct row *head = find_row(library, row->family);

	if (head && strcmp(head->family, head->name))
		fail_at(row->family_position, "%s is of family %s itself", head->name, head->family);
}

static void check_rows(const struct symbols *list, struct library *library)
{
	sort(library->rows.items, library->rows.count, sizeof(struct row), compare_rows);
	for (size_t i = 0, first = 0; i < library->rows.count; i++) {
		struct row *row = &library->rows.items[i], *before;

		check_row(list, library, row);
		if (strcmp(row->name, library->rows.items[first].name))
			first = i;
		for (size_t j = first; j < i; j++) {
			before = &library->rows.items[j];
			if (row->in & before->in)
				fail_twice(list, row->position, before->position, row->in & before->in,
					   row->name);
		}
		before = &library->rows.items[first];
		if (strcmp(row->family, before->family))
			fail_at(row->family_position.line ? row->family_position : row->position,
				"%s is of family %s here, and of family %s on line %u", row->name,
				row->family, before->family, before->position.line);
	}
	for (size_t i = 0; i < library->rows.count; i++)
		check_family(library, &library->rows.items[i]);
}

static void check_enums(const struct symbols *list, struct library *library)
{
	for (size_t i = 0; i < library->enums.count; i++) {
		struct enumeration *one = &library->enums.items[i];

		for (size_t j = 0; j < i; j++)
			if (!strcmp(one->name, library->enums.items[j].name))
				fail_at(one->position, "enum %s is on line %u already", one->name,
					library->enums.items[j].position.line);
		sort(one->values.items, one->values.count, sizeof(struct enumerator),
		     compare_named);
		for (size_t j = 0, first = 0; j < one->values.count; j++) {
			struct enumerator *value = &one->values.items[j];

			if (strcmp(value->name, one->values.items[first].name))
				first = j;
			for (size_t k = first; k < j; k++)
				if (value->in & one->values.items[k].in)
					fail_twice(list, value->position, one->values.items[k].position,
						   value->in & one->values.items[k].in, value->name);
		}
		if (library->status && !strcmp(one->name, library->status))
			library->statuses = one;
	}
	if (library->status && !library->statuses)
		fail_at(library->status_position, "no enum %s in library %s", library->status,
			library->name);
}

static void check_sonames(const struct symbols *list, struct library *library)
{
	for (size_t i = 0; i < library->sonames.count; i++) {
		const struct ranged *one = &library->sonames.items[i];
		unsigned major = major_at(list, first_bit(one->in));

		if (one->in & ~major_set(list, major))
			fail_at(one->position, "%s is the soname of majors %u and %u", one->text,
				major, major_at(list, last_bit(one->in)));
		for (size_t j = 0; j < i; j++) {
			const struct ranged *other = &library->sonames.items[j];

			if (!strcmp(one->text, other->text))
				fail_at(one->position, "soname %s is on line %u already", one->text,
					other->position.line);
			if (other->in & major_set(list, major))
				fail_at(one->position, "major %u has soname %s already", major,
					other->text);
		}
		library->in |= one->in;
	}
}

static void check_nodes(const struct symbols *list, const struct library *library)
{
	if (library->node_names == NODES_NONE && library->sonames.count > 1)
		fail_at(library->sonames.items[1].position, "without version nodes nobody can tell the"
			" callers of %s from those of %s", library->sonames.items[0].text,
			library->sonames.items[1].text);
	for (size_t i = 0; i < library->nodes.count; i++) {
		const struct node *node = &library->nodes.items[i];

		if (!(major_set(list, node->major) & library->in))
			fail_at(node->position, "library %s has no major %u", library->name,
				node->major);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(node->name, library->nodes.items[j].name))
				fail_at(node->position, "node %s is on line %u already", node->name,
					library->nodes.items[j].position.line);
		for (size_t j = 0; j < library->sonames.count; j++)
			if (!strcmp(node->name, library->sonames.items[j].text))
				fail_at(node->position, "node %s is the soname on line %u", node->name,
					library->sonames.items[j].position.line);
	}
}

/* A stub searches by major, so a folder must hold for all toolkits of a major. */
static void check_folders(const struct symbols *list, const struct library *library)
{
	for (size_t i = 0; i < library->folders.count; i++) {
		const struct ranged *a = &library->folders.items[i];

		for (size_t j = 0; j < i; j++) {
			const struct ranged *b = &library->folders.items[j];

			if (a->in & b->in && !strcmp(a->text, b->text))
				fail_twice(list, a->position, b->position, a->in & b->in, "folder");
		}
		for (toolkits in = a->in; in; in &= in - 1) {
			unsigned major = major_at(list, first_bit(in));
			toolkits lacks = major_set(list, major) & library->in & ~a->in;

			if (lacks)
				fail_at(a->position, "a folder for some of major %u, and not for %s",
					major, bit_text(list, first_bit(lacks)));
		}
	}
}

/* Returns the row of a SONAME, or NULL. */
static const struct cuda *find_cuda(const struct library *library, const char *soname)
{
	for (size_t i = 0; i < library->cuda.count; i++)
		if (!strcmp(library->cuda.items[i].soname, soname))
			return &library->cuda.items[i];
	return NULL;
}

static void check_cuda(const struct library *library)
{
	for (size_t i = 0; i < library->cuda.count; i++) {
		const struct cuda *row = &library->cuda.items[i];
		const struct cuda *first = find_cuda(library, row->soname);
		bool known = false;

		if (!library->own_majors)
			fail_at(row->position, "only a library with `majors own` has this");
		if (first != row)
			fail_at(row->position, "%s is on line %u already", row->soname,
				first->position.line);
		for (size_t j = 0; j < library->sonames.count; j++)
			known |= !strcmp(library->sonames.items[j].text, row->soname);
		if (!known)
			fail_at(row->position, "%s is not a SONAME of library %s", row->soname,
				library->name);
	}
	for (size_t i = 0; library->cuda.count && i < library->sonames.count; i++)
		if (!find_cuda(library, library->sonames.items[i].text))
			fail_at(library->sonames.items[i].position, "there is no row `cuda` for %s, and one"
				" for %s", library->sonames.items[i].text,
				library->cuda.items[0].soname);
}

static void check_opens(const struct library *library)
{
	for (size_t i = 0; i < library->opens.count; i++) {
		const struct opened *row = &library->opens.items[i];

		for (size_t j = 0; j < i; j++)
			if (library->opens.items[j].cuda == row->cuda &&
			    !strcmp(library->opens.items[j].soname, row->soname))
				fail_at(row->position, "%s of %s%.0u is on line %u already", row->soname,
					row->cuda ? "CUDA " : "any CUDA", row->cuda,
					library->opens.items[j].position.line);
	}
}

/* The variable of a stub is one, for callers of all majors. */
static void check_variables(const struct library *library)
{
	for (size_t i = 0; i < library->variables.count; i++) {
		const struct variable *one = &library->variables.items[i];

		for (size_t j = 0; j < i; j++)
			if (!strcmp(one->name, library->variables.items[j].name))
				fail_at(one->position, "%s is on line %u already", one->name,
					library->variables.items[j].position.line);
		for (size_t j = 0; j < library->rows.count; j++)
			if (!strcmp(one->name, library->rows.items[j].name))
				fail_at(one->position, "%s is a function on line %u", one->name,
					library->rows.items[j].position.line);
	}
}

const char *const error_names[] = {
	[ON_MISSING] = "missing", [ON_ABSENT] = "absent", [ON_REFUSED] = "refused",
	[ON_DRIVER] = "driver", [ON_INCOHERENT] = "incoherent", [ON_ENDING] = "ending",
	[ON_RELEASED] = "released"
};

/* Returns the last kind of error that a call of this library can get. */
static enum error_kind last_error(const struct library *library)
{
	return library->without_majors ? ON_ABSENT :
	       library->own_majors ? ON_REFUSED : ON_INCOHERENT;
}

/* Only a caller's major is known, so an error must hold for all toolkits of a major. */
static void check_error(const struct symbols *list, const struct library *library,
			const struct error *row)
{
	for (toolkits in = row->in & library->in; in; in &= in - 1) {
		unsigned major = major_at(list, first_bit(in));
		toolkits lacks = major_set(list, major) & library->in & ~row->in;

		if (lacks)
			fail_at(row->position, "an error for some of major %u, and not for %s",
				major, bit_text(list, first_bit(lacks)));
	}
}

static void check_errors(const struct symbols *list, const struct library *library)
{
	for (int kind = ON_MISSING; kind < ERROR_KINDS; kind++) {
		toolkits rest = library->in;

		for (size_t i = 0; i < library->errors[kind].count; i++) {
			const struct error *row = &library->errors[kind].items[i];

			for (size_t j = 0; j < i; j++)
				if (row->in & library->errors[kind].items[j].in)
					fail_at(row->position, "this was given on line %u already",
						library->errors[kind].items[j].position.line);
			check_error(list, library, row);
			rest &= ~row->in;
		}
		if (kind <= (int)last_error(library) && rest)
			fail_at(library->position, "library %s has no row `error %s` for %s",
				library->name, error_names[kind], bit_text(list, first_bit(rest)));
	}
}

static void check_given(const struct library *library)
{
	const char *lacks = !library->stub ? "stub" : !library->variable ? "variable" :
			    !library->sonames.count ? "soname" :
			    library->without_majors && !library->witness ? "witness" : NULL;

	if (lacks)
		fail_at(library->position, "library %s has no row `%s`", library->name, lacks);
	for (int kind = ON_MISSING; kind <= (int)last_error(library); kind++)
		if (!library->errors[kind].count)
			fail_at(library->position, "library %s has no row `error %s`", library->name,
				error_names[kind]);
	if (!library->rows.count)
		fail_at(library->position, "library %s has no functions", library->name);
}

/* Rejects rows that make sense only with majors. */
static void check_without_majors(const struct library *library)
{
	for (int kind = ON_REFUSED; kind <= ON_INCOHERENT; kind++)
		if (library->errors[kind].count)
			fail_at(library->errors[kind].items[0].position,
				"a library without majors has no such error");
	if (library->nodes.count)
		fail_at(library->nodes.items[0].position, "a library without majors has no nodes");
	if (library->folders.count)
		fail_at(library->folders.items[0].position, "a library without majors is in no toolkit");
}

/* One function serves callers of all versions, so it must have a single interface. */
static void check_functions_without_majors(const struct library *library)
{
	if (!find_row(library, library->witness))
		fail_at(library->witness_position, "there is no function %s", library->witness);
	for (size_t i = 0; i < library->rows.count; i++)
		if (library->rows.items[i].apart)
			fail_at(library->rows.items[i].position, "there are no majors to keep apart");
	for (size_t i = 1; i < library->rows.count; i++) {
		const struct row *before = &library->rows.items[i - 1], *row = before + 1;

		if (!strcmp(before->name, row->name))
			fail_at(row->position, "%s has another interface on line %u, and library %s no"
				" majors to tell them apart", row->name, before->position.line,
				library->name);
	}
}

void check_library(const struct symbols *whole, struct library *library)
{
	const struct symbols view = view_of(whole, library), *list = &view;
	size_t length;

	check_given(library);
	length = strlen(library->stub);
	if (length < 4 || strcmp(library->stub + length - 3, ".so"))
		fail_at(library->stub_position, "a stub's file name ends in .so");
	for (const struct library *other = list->libraries.items; other < library; other++)
		if (!strcmp(other->stub, library->stub))
			fail_at(library->stub_position, "%s is the stub of library %s", library->stub,
				other->name);
	check_sonames(list, library);
	check_errors(list, library);
	if (library->without_majors)
		check_without_majors(library);
	else if (library->homes.count || library->witness)
		fail_at(library->witness ? library->witness_position : library->homes.items[0].position,
			"only a library without majors has this");
	check_nodes(list, library);
	check_cuda(library);
	check_opens(library);
	check_variables(library);
	check_folders(list, library);
	check_enums(list, library);
	check_records(list, library);
	check_rows(list, library);
	if (library->without_majors)
		check_functions_without_majors(library);
}
