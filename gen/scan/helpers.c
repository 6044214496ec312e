/* SPDX-License-Identifier: MIT */
/* helpers.c - memory, maps, errors, versions */
#include "scanner.h"

#include <string.h>

static struct map interned;

static size_t hash(const char *text)
{
	size_t value = 5381;

	while (*text)
		value = value * 33 + (unsigned char)*text++;
	return value;
}

/* The slot that holds key, or the empty one where it belongs. */
static size_t map_slot(const struct map *map, const char *key)
{
	size_t slot = hash(key) & (map->capacity - 1);

	while (map->slots[slot] && strcmp(map->keys.items[map->slots[slot] - 1], key))
		slot = (slot + 1) & (map->capacity - 1);
	return slot;
}

static void map_grow(struct map *map)
{
	map->capacity = map->capacity ? 2 * map->capacity : 16;
	map->slots = allocate(1, map->capacity * sizeof(*map->slots));
	for (size_t i = 0; i < map->keys.count; i++)
		map->slots[map_slot(map, map->keys.items[i])] = (uint32_t)i + 1;
}

void *map_get(const struct map *map, const char *key)
{
	uint32_t index;

	if (!map->capacity)
		return NULL;
	index = map->slots[map_slot(map, key)];
	return index ? map->values.items[index - 1] : NULL;
}

void map_put(struct map *map, const char *key, void *value)
{
	size_t slot;

	if (2 * (map->keys.count + 1) > map->capacity)
		map_grow(map);
	slot = map_slot(map, key);
	if (map->slots[slot]) {
		map->values.items[map->slots[slot] - 1] = value;
		return;
	}
	list_add(&map->keys, key);
	list_add(&map->values, value);
	map->slots[slot] = (uint32_t)map->keys.count;
}

int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int compare_versions(const void *a, const void *b)
{
	return (int)*(const version *)a - (int)*(const version *)b;
}

const char *scan_intern(const char *text)
{
	char *copy = map_get(&interned, text);

	if (!copy) {
		copy = format("%s", text);
		map_put(&interned, copy, copy);
	}
	return copy;
}

const char *scan_intern_n(const char *text, size_t length)
{
	return scan_intern(format("%.*s", (int)length, text));
}

char *read_text(const char *path)
{
	size_t size;
	char *text = load_file(path, &size);

	if (strlen(text) != size)
		fail(path, "is not a text file");
	return text;
}

char *next_line(char **text)
{
	char *line = *text;
	size_t length = strcspn(line, "\n");

	if (!*line)
		return NULL;
	*text = line + length + (line[length] == '\n');
	line[length] = '\0';
	return line;
}

bool matches(const char *pattern, const char *text, const char **star)
{
	size_t length;

	if (!*pattern)
		return !*text;
	if (*pattern == '#') {
		length = strspn(text, "0123456789");
		return length && matches(pattern + 1, text + length, star);
	}
	if (*pattern != '*')
		return *pattern == *text && matches(pattern + 1, text + 1, star);
	for (length = 0; length <= strlen(text); length++) {
		if (!matches(pattern + 1, text + length, NULL))
			continue;
		if (star)
			*star = scan_intern_n(text, length);
		return true;
	}
	return false;
}

bool parse_version(const char *text, size_t length, version *out)
{
	unsigned parts[2] = { 0, 0 };
	size_t digits = 0;
	int part = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.' && part == 0 && digits) {
			part = 1;
			digits = 0;
		} else if (text[i] >= '0' && text[i] <= '9' && digits < 2) {
			parts[part] = parts[part] * 10 + (unsigned)(text[i] - '0');
			digits++;
		} else {
			return false;
		}
	}
	*out = VERSION(parts[0], parts[1]);
	return part == 1 && digits;
}

static bool parse_range(const char *text, size_t length, struct range *out)
{
	const char *dash = memchr(text, '-', length);
	size_t head = dash ? (size_t)(dash - text) : length;

	if (!parse_version(text, head, &out->from))
		return false;
	if (!dash)
		out->to = out->from;
	else if (head + 1 == length)
		out->to = VERSION_LATER;
	else if (!parse_version(dash + 1, length - head - 1, &out->to))
		return false;
	return out->from <= out->to;
}

bool parse_ranges(const char *text, struct ranges *out)
{
	size_t length;

	do {
		length = strcspn(text, ",");
		if (!parse_range(text, length, push(out)))
			return false;
		text += length;
	} while (*text++ == ',');
	return true;
}

bool in_ranges(const struct ranges *ranges, version v)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->items[i].from <= v && v <= ranges->items[i].to)
			return true;
	return false;
}

const char *type_text(struct c_type type)
{
	const char *name = type.kind == STRUCT ? type.record : kind_names[type.kind];
	const char *star = type.pointer ? "*" : "";

	if (type.count)
		return format("%s%s[%u]", star, name, type.count);
	return format("%s%s", star, name);
}

/* A range that includes the newest toolkit is left open: it holds until a newer toolkit
 * shows otherwise, and adding a toolkit does not change the line. */
const char *range_text(const struct scan *scan, toolkits in)
{
	const char *text = "";

	for (int first = 0; first < scan->count; first++) {
		int last = first;
		version from = scan->versions[first], to;

		if (!(in & BIT(first)))
			continue;
		while (last + 1 < scan->count && in & BIT(last + 1))
			last++;
		to = scan->versions[last];
		text = format("%s%s%d.%d", text, *text ? "," : "", MAJOR(from), MINOR(from));
		if (last + 1 == scan->count)
			text = format("%s-", text);
		else if (last > first)
			text = format("%s-%d.%d", text, MAJOR(to), MINOR(to));
		first = last;
	}
	return text;
}

bool is_hinted_reserved(const struct subject *library, const char *field)
{
	for (size_t i = 0; i < library->reserved.count; i++) {
		struct hint *hint = library->reserved.items[i];

		if (!means_field(hint->words[0], field))
			continue;
		hint->used = true;
		return true;
	}
	return false;
}

bool in_folders(const struct list *hints, version v)
{
	for (size_t i = 0; i < hints->count; i++) {
		const struct hint *hint = hints->items[i];

		if (in_ranges(&hint->ranges, v))
			return true;
	}
	return false;
}

void note_names(struct subject *library, const struct exports *exports)
{
	for (size_t i = 0; i < exports->count; i++)
		map_put(&library->names, exports->names[i], library);
}
