/* SPDX-License-Identifier: MIT */
/* types.c - reads types and layouts, in ABI terms, through libclang */
#include "unit.h"

#include <stdarg.h>
#include <string.h>

const char *take_string(const struct libclang *clang, CXString string)
{
	const char *text = clang->getCString(string);

	text = scan_intern(text ? text : "");
	clang->disposeString(string);
	return text;
}

struct position position_of(const struct unit *unit, CXCursor cursor)
{
	const struct libclang *clang = unit->clang;
	unsigned line, column;
	CXFile file;

	clang->getExpansionLocation(clang->getCursorLocation(cursor), &file, &line, &column, NULL);
	return (struct position){ file ? take_string(clang, clang->getFileName(file)) : "",
			       line, column };
}

void object(struct unit *unit, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!unit->library->given)
		fail(unit->where, "%s", text);
	if (!unit->objection)
		unit->objection = scan_intern(text);
}

bool is_record(const struct unit *unit, CXType type)
{
	return type.kind == CXType_Record && unit->clang->Type_getSizeOf(type) >= 0;
}

/* A name without `struct` or `union`, and without the namespaces of C++. */
static const char *plain_name(const char *spelling)
{
	const char *name = spelling;

	if (!strncmp(name, "struct ", 7))
		name += 7;
	else if (!strncmp(name, "union ", 6))
		name += 6;
	for (const char *part; !strpbrk(name, "(<") && (part = strstr(name, "::"));)
		name = part + 2;
	return name;
}

/* The name that programs use: name or name_t for `struct name_st`, else the tag. */
static const char *record_name(struct unit *unit, CXType type)
{
	CXCursor declaration = unit->clang->getTypeDeclaration(type);
	const char *name = plain_name(take_string(unit->clang, unit->clang->getTypeSpelling(
					unit->clang->getCursorType(declaration))));
	const char *typedefs[2];

	if (map_get(&unit->nameless, name))
		return map_get(&unit->nameless, name);
	if (strchr(name, '(') || strchr(name, ' '))
		object(unit, "a struct without a name is passed or pointed to: %s", name);
	else if (strchr(name, '<'))
		object(unit, "a class of C++ is passed or pointed to: %s", name);
	if (strlen(name) <= 3 || strcmp(name + strlen(name) - 3, "_st"))
		return scan_intern(name);
	typedefs[0] = scan_intern_n(name, strlen(name) - 3);
	typedefs[1] = scan_intern(format("%s_t", typedefs[0]));
	for (int i = 0; i < 2; i++)
		if (map_get(&unit->typedefs, typedefs[i]))
			return typedefs[i];
	return scan_intern(name);
}

static const char *take_layout(struct unit *unit, CXType type);

static enum kind scalar(struct unit *unit, CXType type)
{
	switch (type.kind) {
	case CXType_Void: return VOID;
	/* Plain char is unsigned on aarch64, but no caller passes a negative one. */
	case CXType_Char_U:
	case CXType_Char_S:
	case CXType_SChar: return I8;
	case CXType_Bool:
	case CXType_UChar: return U8;
	case CXType_Short: return I16;
	/* wchar_t is unsigned on aarch64, too. */
	case CXType_WChar: return I32;
	case CXType_UShort: return U16;
	case CXType_Int: return I32;
	case CXType_UInt: return U32;
	case CXType_Long:
	case CXType_LongLong: return I64;
	case CXType_ULong:
	case CXType_ULongLong: return U64;
	case CXType_Float: return F32;
	case CXType_Double: return F64;
	case CXType_Pointer: return PTR;
	case CXType_Enum:
		if (unit->clang->Type_getSizeOf(type) == 4)
			return I32;
	}
	object(unit, "the type %s is not one that the list can express",
	       take_string(unit->clang, unit->clang->getTypeSpelling(type)));
	return PTR;
}

const char *enum_name(const struct unit *unit, CXType type)
{
	const char *name = take_string(unit->clang, unit->clang->getTypeSpelling(type));

	return strncmp(name, "enum ", 5) ? name : scan_intern(name + 5);
}

struct c_type value_type(struct unit *unit, CXType type)
{
	struct c_type out = { 0 };

	if (is_record(unit, type)) {
		out.kind = STRUCT;
		out.record = take_layout(unit, type);
		return out;
	}
	out.kind = scalar(unit, type);
	if (type.kind == CXType_Enum)
		out.enumeration = enum_name(unit, type);
	return out;
}

/* ---- layouts ---- */

struct flattening {
	struct unit *unit;
	struct c_layout *layout;
	const char *prefix;
	uint32_t offset;
};

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data);

static void flatten(struct flattening *outer, CXType type, const char *prefix, uint32_t offset)
{
	struct flattening inner = { outer->unit, outer->layout, prefix, offset };

	outer->unit->clang->Type_visitFields(type, visit_field, &inner);
}

/* An array names the unnamed structs that are its elements: STRUCT_FIELD. */
static void name_elements(struct flattening *in, CXType type, const char *field)
{
	const struct libclang *clang = in->unit->clang;
	const char *spelling = take_string(clang, clang->getTypeSpelling(type)), *name;

	if (!strchr(spelling, '('))
		return;
	spelling = scan_intern(plain_name(spelling));
	name = scan_intern(format("%s_%s", in->layout->name, field));
	map_put(&in->unit->nameless, spelling, (void *)name);
}

static void flatten_leaf(struct flattening *in, CXType type, const char *name, uint32_t offset)
{
	const struct libclang *clang = in->unit->clang;
	struct c_layout *layout = in->layout;
	uint32_t size = (uint32_t)clang->Type_getSizeOf(type);
	struct c_type leaf;
	uint32_t count = 0;
	CXType target;

	while (type.kind == CXType_ConstantArray) {
		count = (count ? count : 1) * (uint32_t)clang->getArraySize(type);
		type = clang->getCanonicalType(clang->getArrayElementType(type));
	}
	if (count && type.kind == CXType_Record)
		name_elements(in, type, name);
	leaf = value_type(in->unit, type);
	if (type.kind == CXType_Pointer) {
		target = clang->getCanonicalType(clang->getPointeeType(type));
		if (is_record(in->unit, target)) {
			leaf = value_type(in->unit, target);
			leaf.pointer = true;
		}
	}
	leaf.count = count;
	layout->leaves = grow(layout->leaves, layout->count, &layout->capacity, sizeof(*layout->leaves));
	layout->leaves[layout->count++] = (struct leaf){ name, leaf, offset, size };
}

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data)
{
	struct flattening *in = data;
	const struct libclang *clang = in->unit->clang;
	CXType type = clang->getCanonicalType(clang->getCursorType(field));
	long long bits = clang->Cursor_getOffsetOfField(field);
	uint32_t offset = in->offset + (uint32_t)(bits / 8);
	const char *name = take_string(clang, clang->getCursorSpelling(field));

	if (bits < 0 || bits % 8 || clang->Cursor_isBitField(field))
		object(in->unit, "%s: the field %s%s has no byte offset", in->layout->name, in->prefix,
		       name);
	if (type.kind != CXType_Record) {
		flatten_leaf(in, type, scan_intern(format("%s%s", in->prefix, name)), offset);
		return CXVisit_Continue;
	}
	if (clang->Cursor_isAnonymousRecordDecl(clang->getTypeDeclaration(type)))
		flatten(in, type, in->prefix, offset);
	else
		flatten(in, type, format("%s%s.", in->prefix, name), offset);
	return CXVisit_Continue;
}

bool same_type(struct c_type a, struct c_type b)
{
	return a.kind == b.kind && a.pointer == b.pointer && a.count == b.count &&
	       a.record == b.record;
}

bool same_layout(const struct c_layout *a, const struct c_layout *b)
{
	if (a->size != b->size || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->leaves[i].offset != b->leaves[i].offset ||
		    strcmp(a->leaves[i].name, b->leaves[i].name) ||
		    !same_type(a->leaves[i].type, b->leaves[i].type))
			return false;
	return true;
}

static const char *take_layout(struct unit *unit, CXType type)
{
	const char *name = record_name(unit, type);
	struct c_layout *layout = map_get(&unit->seen, name), *known;
	const char *before = unit->objection;
	struct flattening top;

	if (layout && layout->objection)
		object(unit, "%s", layout->objection);
	if (layout)
		return name;
	layout = allocate(1, sizeof(*layout));
	layout->name = name;
	layout->position = position_of(unit, unit->clang->getTypeDeclaration(type));
	layout->size = (uint32_t)unit->clang->Type_getSizeOf(type);
	map_put(&unit->seen, name, layout);
	top = (struct flattening){ unit, layout, "", 0 };
	unit->objection = NULL;
	flatten(&top, type, "", 0);
	layout->objection = unit->objection;
	if (before)
		unit->objection = before;
	known = map_get(&unit->headers->layouts, name);
	if (known && !same_layout(known, layout)) {
		if (!unit->library->given)
			fail(unit->where, "struct %s is laid out in two ways", name);
		layout->objection = scan_intern(format("struct %s is laid out in two ways", name));
		object(unit, "%s", layout->objection);
	}
	if (!known)
		map_put(&unit->headers->layouts, name, layout);
	return name;
}
