/* SPDX-License-Identifier: MIT */
/*
 * value.c - writes structs that are passed by value as C
 *
 * The list describes a struct as flat fields with offsets.  Calling conventions
 * depend on the struct's size, its alignment and which bytes hold integers or
 * floating-point numbers, so a struct of these fields is passed like the
 * original.  A struct with overlapping fields, as from a union, becomes an array
 * of integers of the same alignment.
 */
#include "slots.h"

#include <stdlib.h>
#include <string.h>

static const char *const c_names[] = {
	"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
	"uint64_t", "float", "double", "void *"
};

/* A field as an array of C scalars.  A nested struct becomes integers. */
struct member {
	const struct field *field;
	enum kind kind;
	unsigned count;
};

static bool is_float(enum kind kind)
{
	return kind == F32 || kind == F64;
}

static int compare_offsets(const void *one, const void *other)
{
	const struct field *a = ((const struct member *)one)->field;
	const struct field *b = ((const struct member *)other)->field;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct members {
	ARRAY(struct member) all;	/* in order of offset */
	unsigned alignment;
	unsigned padding;	/* bytes of explicit padding */
	bool overlap, floats;
	const struct field *odd;	/* a field that C cannot express here; or NULL */
};

static void find_members(struct members *members, const struct record *record, unsigned toolkit);

static struct member member_of(struct members *members, const struct field *field, unsigned toolkit)
{
	static const enum kind words[] = { [1] = U8, [2] = U16, [4] = U32, [8] = U64 };
	struct member member = { field, field->type.kind, field->type.count };
	struct members inner;

	if (member.kind != STRUCT)
		return member;
	member.kind = PTR;
	if (field->type.pointer)
		return member;
	find_members(&inner, field->type.record, toolkit);
	if (inner.odd || inner.floats)
		members->odd = field;
	member.kind = words[inner.alignment];
	member.count *= size_in(field->type.record, toolkit)->bytes / inner.alignment;
	return member;
}

static void find_members(struct members *members, const struct record *record, unsigned toolkit)
{
	*members = (struct members){ .alignment = 1 };
	for (size_t i = 0; i < record->fields.count; i++) {
		const struct field *field = &record->fields.items[i];
		struct member member;

		if (!(field->in & BIT(toolkit)))
			continue;
		member = member_of(members, field, toolkit);
		*push(&members->all) = member;
		members->floats |= is_float(member.kind);
		if (kind_sizes[member.kind] > members->alignment)
			members->alignment = kind_sizes[member.kind];
	}
	if (members->all.count)
		qsort(members->all.items, members->all.count, sizeof(struct member),
		      compare_offsets);
}

static unsigned align(unsigned offset, unsigned alignment)
{
	return (offset + alignment - 1) / alignment * alignment;
}

static void add_padding(struct members *members, struct text *text, unsigned bytes)
{
	if (bytes)
		put(text, "\tuint8_t lc_pad%u[%u];\n", members->padding, bytes);
	members->padding += bytes;
}

/* Its name begins with a dot. */
char *identifier(const struct field *field)
{
	char *text = format("%s", field->name + 1);

	for (char *c = text; *c; c++)
		if (*c == '.')
			*c = '_';
	return text;
}

static void add_member(struct text *text, const struct member *member)
{
	const char *type = c_names[member->kind];

	put(text, "\t%s%s%s", type, type[strlen(type) - 1] == '*' ? "" : " ",
	    identifier(member->field));
	if (member->count > 1)
		put(text, "[%u]", member->count);
	put(text, ";\n");
}

/* Adds each member, and the padding that the compiler would not insert by itself. */
static void add_members(struct members *members, struct text *text, unsigned size)
{
	unsigned end = 0;

	for (size_t i = 0; i < members->all.count; i++) {
		const struct member *member = &members->all.items[i];
		const struct field *field = member->field;
		unsigned bytes = kind_sizes[member->kind];

		if (field->offset % bytes)
			members->odd = field;
		if (field->offset < end)
			members->overlap = true;
		if (members->odd || members->overlap)
			return;
		if (align(end, bytes) != field->offset)
			add_padding(members, text, field->offset - end);
		add_member(text, member);
		end = field->offset + bytes * member->count;
	}
	if (align(end, members->alignment) != size)
		add_padding(members, text, size - end);
}

static void make_value(struct value *value, const struct type *type, unsigned toolkit)
{
	const struct record *record = type->record;
	struct members members;
	struct text text = { 0 };

	find_members(&members, record, toolkit);
	if (!members.all.count)
		fail_at(type->position, "struct %s has no fields, and so cannot be passed by value",
			record->name);
	if (!members.odd)
		add_members(&members, &text, value->bytes);
	if (members.odd)
		fail_at(type->position, "struct %s cannot be passed by value with %s as it is on line %u",
			record->name, members.odd->name, members.odd->position.line);
	if (members.floats && (members.overlap || members.padding))
		fail_at(type->position, "struct %s cannot be passed by value: it has floating-point "
			"numbers and %s", record->name, members.overlap ? "a union" : "gaps");
	if (value->bytes % members.alignment)
		fail_at(type->position, "struct %s has %u bytes, which is not a multiple of its "
			"alignment, %u", record->name, value->bytes, members.alignment);
	if (members.overlap) {
		text.length = 0;
		put(&text, "\tuint%u_t lc_words[%u];\n", 8 * members.alignment,
		    value->bytes / members.alignment);
	}
	value->members = text.bytes;
}

const struct value *passed_value(struct plan *plan, const struct type *type, unsigned toolkit)
{
	const struct size *size = size_in(type->record, toolkit);
	struct value *value;

	for (size_t i = 0; i < plan->values.count; i++) {
		value = &plan->values.items[i];
		if (value->record == type->record && value->letter == size->letter)
			return value;
	}
	value = push(&plan->values);
	*value = (struct value){ .record = type->record, .letter = size->letter,
				 .bytes = size->bytes };
	/* Layout A keeps the plain name when a later layout appears: code uses the name. */
	value->name = size->letter == 'A' ? format("lc_%s", type->name) :
					    format("lc_%s_%c", type->name, size->letter);
	make_value(value, type, toolkit);
	return value;
}
