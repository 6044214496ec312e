/* SPDX-License-Identifier: MIT */
/*
 * letters.c - decides which layouts of a struct are interchangeable
 *
 * Toolkits are visited oldest first.  A layout that continues an earlier one gets
 * its letter, any other layout a new letter.  A layout continues another if it
 * has the same size, and every field of the other at the same offset and of the
 * same type.  A field may be renamed but not moved, even if one of its type takes
 * its place.  Reserved bytes and padding may become fields, and a union may get
 * another member.  Structs behind pointers count too; as they may point to each
 * other, the letters take several rounds to settle.
 */
#include "scanner.h"

#include <string.h>

static bool same_scalar(struct c_type a, struct c_type b)
{
	/* Signedness does not change how a value is passed or stored. */
	static const enum kind plain[] = {
		I8, I8, I16, I16, I32, I32, I64, I64, F32, F64, PTR, STRUCT, VOID
	};

	if (a.count != b.count)
		return false;
	/* The target of a pointer may be opaque in one of the two toolkits. */
	if (a.pointer != b.pointer)
		return (a.pointer && b.kind == PTR) || (b.pointer && a.kind == PTR);
	return plain[a.kind] == plain[b.kind] && a.record == b.record;
}

static bool same_target(const struct subject *library, const struct leaf *leaf, int old, int new)
{
	const struct used_record *target;

	if (!leaf->type.record)
		return true;
	target = map_get(&library->records, leaf->type.record);
	if (!target || !target->layouts[old] || !target->layouts[new])
		return true;
	/* The last round's letters: in this round only some are assigned yet. */
	return target->before[old] == target->before[new];
}

/* The field at the same offset and of the same type, whatever its name. */
static const struct leaf *find_leaf(const struct subject *library, const struct c_layout *layout,
				    const struct leaf *wanted)
{
	for (size_t i = 0; i < layout->count; i++)
		if (layout->leaves[i].offset == wanted->offset &&
		    same_scalar(layout->leaves[i].type, wanted->type) &&
		    !is_hinted_reserved(library, layout->leaves[i].name))
			return &layout->leaves[i];
	return NULL;
}

static bool has_name(const struct c_layout *layout, const struct leaf *wanted)
{
	for (size_t i = 0; i < layout->count; i++)
		if (layout->leaves[i].name == wanted->name &&
		    layout->leaves[i].offset == wanted->offset)
			return true;
	return false;
}

/* Returns true if a field was added since: its name is new, and no field of its type at
 * its offset has lost its name, which would mean a rename. */
static bool is_new(const struct subject *library, const struct c_layout *before,
		   const struct c_layout *after, const struct leaf *leaf)
{
	if (has_name(before, leaf))
		return false;
	for (size_t i = 0; i < before->count; i++) {
		const struct leaf *old = &before->leaves[i];

		if (old->offset == leaf->offset && same_scalar(old->type, leaf->type) &&
		    !is_hinted_reserved(library, old->name) && !has_name(after, old))
			return false;
	}
	return true;
}

/* Returns true if a field of this name is now only at another offset; whatever took the
 * old place is another field. */
static bool has_moved(const struct c_layout *after, const struct leaf *leaf)
{
	bool elsewhere = false;

	for (size_t i = 0; i < after->count; i++) {
		if (after->leaves[i].name != leaf->name)
			continue;
		if (after->leaves[i].offset == leaf->offset)
			return false;
		elsewhere = true;
	}
	return elsewhere;
}

static bool continues(const struct subject *library, const struct used_record *record, int old,
		      int new)
{
	const struct c_layout *before = record->layouts[old], *after = record->layouts[new];

	if (before->size != after->size)
		return false;
	for (size_t i = 0; i < before->count; i++) {
		const struct leaf *leaf = &before->leaves[i];

		if (is_hinted_reserved(library, leaf->name))
			continue;
		if (!find_leaf(library, after, leaf) || has_moved(after, leaf) ||
		    !same_target(library, leaf, old, new))
			return false;
	}
	return true;
}

static bool overlaps(const struct leaf *a, const struct leaf *b)
{
	return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* Returns true if a new field overlaps bytes that were in use before. */
static bool overlays(const struct subject *library, const struct c_layout *before,
		     const struct leaf *leaf)
{
	for (size_t i = 0; i < before->count; i++)
		if (overlaps(&before->leaves[i], leaf) &&
		    !is_hinted_reserved(library, before->leaves[i].name))
			return true;
	return false;
}

static void find_growth(const struct subject *library, struct used_record *record, int old, int new)
{
	const struct c_layout *before = record->layouts[old], *after = record->layouts[new];

	for (size_t i = 0; i < after->count; i++) {
		const struct leaf *leaf = &after->leaves[i];

		if (is_hinted_reserved(library, leaf->name) || !is_new(library, before, after, leaf))
			continue;
		if (overlays(library, before, leaf))
			record->overlaid[new] = true;
		else
			record->tail[new] = true;
	}
}

/* Of the toolkits before `new`, the newest whose layout `new` continues, -1 if none.  Each
 * letter is tried only in the newest toolkit that has it. */
static int find_predecessor(const struct subject *library, const struct used_record *record,
			    int new)
{
	for (int old = new - 1; old >= 0; old--) {
		bool newest = true;

		if (!record->layouts[old])
			continue;
		for (int i = old + 1; i < new && newest; i++)
			newest = !record->layouts[i] || record->letters[i] != record->letters[old];
		if (newest && continues(library, record, old, new))
			return old;
	}
	return -1;
}

/* Assigns letters to a struct's layouts; returns true if any letter changed. */
static bool assign(const struct scan *scan, const struct subject *library,
		   struct used_record *record)
{
	uint8_t letters = 0;
	bool changed = false;

	for (int new = 0; new < scan->count; new++) {
		int old;
		uint8_t letter;

		if (!record->layouts[new])
			continue;
		old = find_predecessor(library, record, new);
		letter = old < 0 ? letters++ : record->letters[old];
		if (letter >= 26)
			fail(record->name, "has more than 26 layouts");
		changed |= letter != record->letters[new];
		record->letters[new] = letter;
		record->tail[new] = record->overlaid[new] = false;
		if (old >= 0)
			find_growth(library, record, old, new);
	}
	return changed;
}

static void refuse_unused_patterns(const struct scan *scan, const struct subject *library)
{
	for (size_t i = 0; i < library->records.keys.count; i++) {
		const struct used_record *record = library->records.values.items[i];

		for (int toolkit = 0; toolkit < scan->count; toolkit++)
			for (size_t j = 0; record->layouts[toolkit] &&
					   j < record->layouts[toolkit]->count; j++)
				is_hinted_reserved(library, record->layouts[toolkit]->leaves[j].name);
	}
	for (size_t i = 0; i < library->reserved.count; i++) {
		const struct hint *hint = library->reserved.items[i];

		if (!hint->used)
			fail_at(hint->position, "no field is called %s", hint->words[0]);
	}
}

void assign_letters(struct scan *scan, struct subject *library)
{
	struct map *records = &library->records;
	bool changed = true;

	for (size_t round = 0; changed; round++) {
		changed = false;
		for (size_t i = 0; i < records->keys.count; i++) {
			struct used_record *record = records->values.items[i];

			memcpy(record->before, record->letters, sizeof(record->before));
		}
		for (size_t i = 0; i < records->keys.count; i++)
			changed |= assign(scan, library, records->values.items[i]);
		if (round > 2 * records->keys.count + 2)
			fail(library->name, "the letters of its structs do not settle");
	}
	refuse_unused_patterns(scan, library);
}
