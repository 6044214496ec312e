/* SPDX-License-Identifier: MIT */
/*
 * cubin_places.c - where the sections of a relocatable cubin lie in it
 *
 * No two overlap, but for one of the second set that has the bytes of one of the first:
 * .nv.merc.debug_line and .debug_line.  Nothing lies between two of the second set, except before
 * its symbols.
 */
#include "cubin_sound.h"

#include <stdlib.h>

struct occupied {
	uint64_t start, end;
	uint64_t section;	/* 0: the ELF header, or the section headers */
};

static int compare(const void *one, const void *other)
{
	const struct occupied *a = one, *b = other;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->section < b->section ? -1 : a->section > b->section;
}

static bool is_of_second_set(const struct lk_device_elf *elf, const struct occupied *place)
{
	return elf->named[place->section] == LK_NAME_MERC;
}

static bool is_twin(const struct lk_device_elf *elf, const struct occupied *one,
		    const struct occupied *other)
{
	return one->start == other->start && one->end == other->end &&
	       is_of_second_set(elf, one) != is_of_second_set(elf, other);
}

static const char *check_place(const struct lk_device_elf *elf, const struct occupied *before,
			       const struct occupied *place)
{
	const lk_elf_section *section = lk_device_elf_section(elf, place->section);

	if (place->start < before->end)
		return is_twin(elf, before, place) ? NULL : "its bytes are those of another";
	return place->start - before->end < section->sh_addralign ||
	       section->sh_type == SHT_NV_MERC_SYMTAB || !is_of_second_set(elf, before) ||
	       !is_of_second_set(elf, place) ? NULL : "its place";
}

static size_t collect(const struct lk_device_elf *elf, struct occupied *places)
{
	const uint64_t headers = elf->header.e_shoff;
	size_t count = 0;

	places[count++] = (struct occupied){ 0, sizeof(Elf64_Ehdr), 0 };
	for (uint64_t i = 1; i < elf->section_count; i++) {
		const lk_elf_section *section = lk_device_elf_section(elf, i);

		if (section->sh_size && lk_device_elf_has_bytes(section))
			places[count++] = (struct occupied){
				section->sh_offset, section->sh_offset + section->sh_size, i };
	}
	places[count++] = (struct occupied){ headers, headers + elf->section_count *
							sizeof(Elf64_Shdr), 0 };
	return count;
}

/* Before sm_100 they nearly always are. */
static bool are_sorted(const struct occupied *places, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare(&places[i - 1], &places[i]) > 0)
			return false;
	return true;
}

const char *lk_cubin_places(const struct lk_device_elf *elf)
{
	struct occupied *places = lc_alloc(elf->arena, (elf->section_count + 1) * sizeof(*places));
	size_t count;

	if (!places)
		return "has more sections than memory could hold";
	count = collect(elf, places);
	if (!are_sorted(places, count))
		qsort(places, count, sizeof(*places), compare);
	for (size_t i = 1; i < count; i++) {
		const uint64_t index = places[i].section;
		const lk_elf_section *section = lk_device_elf_section(elf, index);
		const char *why = check_place(elf, &places[i - 1], &places[i]);

		if (why)
			return lk_device_elf_damage(elf, "header, section", index,
						    lk_device_elf_name(elf, section), why);
	}
	return NULL;
}
