/* SPDX-License-Identifier: MIT */
/* scene.c - a question to lazycuda_plan(), from words */
#include "scene.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* What the versions of LTO-IR are, as measured. */
static const struct { int toolkit, container, ir; } ltoir_bytes[] = {
	{ 11070, 1054, 2047 }, { 11080, 1054, 2048 }, { 12000, 1057, 2051 },
	{ 12010, 1057, 2053 }, { 12020, 1059, 2058 }, { 12030, 1060, 2063 },
	{ 12040, 1061, 2071 }, { 12050, 1061, 2083 }, { 12060, 1062, 2084 },
	{ 12080, 1064, 2089 }, { 12090, 1064, 2093 }, { 13000, 1065, 2098 },
	{ 13010, 1066, 2107 }, { 13020, 1066, 2114 }, { 13030, 1067, 2115 },
	{ 13040, 1067, 2120 }, { 13050, 1067, 2131 },
};

static void fail(const char *what)
{
	fprintf(stderr, "scene: %s\n", what);
	exit(3);
}

/* Scenes last as long as the program; all that they are made of is kept. */
static void *make(size_t size)
{
	static struct kept {
		struct kept *older;
		max_align_t memory[];
	} *kept;
	struct kept *made = calloc(1, sizeof(*made) + size);

	if (!made)
		fail("no memory");
	made->older = kept;
	kept = made;
	return made->memory;
}

/* The value of "name=value", or NULL. */
static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(word, name, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static int version(const char *text)
{
	int major, minor = 0;

	if (!strcmp(text, "none"))
		return LAZYCUDA_VERSION_NONE;
	if (!strcmp(text, "unknown"))
		return LAZYCUDA_VERSION_UNKNOWN;
	if (sscanf(text, "%d.%d", &major, &minor) < 1)
		fail(text);
	return 1000 * major + 10 * minor;
}

static enum lazycuda_kind kind_of(const char *name)
{
	for (int i = 0; i <= LAZYCUDA_KIND_BUNDLE; i++)
		if (!strcmp(name, lazycuda_kind_name(i)))
			return i;
	if (!strcmp(name, "lto"))
		return LAZYCUDA_KIND_LTOIR;
	fail(name);
	return LAZYCUDA_KIND_UNKNOWN;
}

/* ---- an entry ---- */

static void set_version(struct lazycuda_entry *entry, const char *text)
{
	int number = strcmp(text, "?") ? version(text) : 0;

	if (entry->kind == LAZYCUDA_KIND_PTX) {
		entry->isa = number / 1000 * 10 + number % 1000 / 10;
		return;
	}
	entry->toolkit = number;
	for (size_t i = 0; i < COUNT(ltoir_bytes) && entry->kind == LAZYCUDA_KIND_LTOIR; i++) {
		if (ltoir_bytes[i].toolkit != number)
			continue;
		entry->container = ltoir_bytes[i].container;
		entry->ir = ltoir_bytes[i].ir;
	}
	if (entry->kind == LAZYCUDA_KIND_CUBIN && number)
		entry->abi = number >= 13000 ? 8 : 7;
}

static void add_symbol(struct lazycuda_entry *entry, const char *name, int defined, int weak,
		       const char *more)
{
	struct lazycuda_symbol *symbols = make((entry->symbol_count + 1) * sizeof(*symbols));
	uint32_t hash = 2166136261u;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	if (entry->symbol_count)
		memcpy(symbols, entry->symbols, entry->symbol_count * sizeof(*symbols));
	symbols[entry->symbol_count++] = (struct lazycuda_symbol){
		.name = name, .hash = hash, .defined = (unsigned char)defined,
		.weak = (unsigned char)weak, .kernel = !strcmp(more, "kernel"),
		.flags = !strcmp(more, "unlisted") ? LAZYCUDA_SYMBOL_UNLISTED : 0,
	};
	entry->symbols = symbols;
}

static void set_word(struct lazycuda_entry *entry, const char *word)
{
	static const struct { const char *word; unsigned set, clear; } flags[] = {
		{ "linked", LAZYCUDA_ENTRY_LINKED, LAZYCUDA_ENTRY_RELOCATABLE },
		{ "plain", 0, LAZYCUDA_ENTRY_RELOCATABLE },
		{ "lz4", LAZYCUDA_ENTRY_LZ4, 0 },
		{ "libdevice", LAZYCUDA_ENTRY_LIBDEVICE, 0 },
		{ "no-layout", LAZYCUDA_ENTRY_NO_LAYOUT, 0 },
		{ "listed", LAZYCUDA_ENTRY_LISTED, 0 },
		{ "zstd", LAZYCUDA_ENTRY_ZSTD, 0 },
		{ "unseen", LAZYCUDA_ENTRY_UNSEEN, LAZYCUDA_ENTRY_RELOCATABLE },
		{ "obfuscated", LAZYCUDA_ENTRY_OBFUSCATED | LAZYCUDA_ENTRY_UNSEEN |
		  LAZYCUDA_ENTRY_ZSTD, 0 },
	};
	const char *value;

	for (size_t i = 0; i < COUNT(flags); i++) {
		if (strcmp(word, flags[i].word))
			continue;
		entry->flags = (entry->flags | flags[i].set) & ~flags[i].clear;
		if (flags[i].set & (LAZYCUDA_ENTRY_OBFUSCATED | LAZYCUDA_ENTRY_UNSEEN))
			entry->toolkit = entry->ir = 0;
		return;
	}
	if (!strcmp(word, "bytes"))
		entry->toolkit = 0;
	else if (!strcmp(word, "damaged"))
		entry->error = "ends inside its header (0x20)";
	else if ((value = value_of(word, "abi")))
		entry->abi = atoi(value);
	else if ((value = value_of(word, "level")))
		entry->level = atoi(value);
	else if ((value = value_of(word, "ir")))
		entry->ir = atoi(value);
	else if ((value = value_of(word, "container")))
		entry->container = atoi(value);
	else if ((value = value_of(word, "member")))
		entry->member = value;
	else if ((value = value_of(word, "section")))
		entry->section = value;
	else if ((value = value_of(word, "def")))
		add_symbol(entry, value, 1, 0, "");
	else if ((value = value_of(word, "kernel")))
		add_symbol(entry, value, 1, 0, "kernel");
	else if ((value = value_of(word, "weak-kernel")))
		add_symbol(entry, value, 1, 1, "kernel");
	else if ((value = value_of(word, "unlisted")))
		add_symbol(entry, value, 1, 0, "unlisted");
	else if ((value = value_of(word, "weak")))
		add_symbol(entry, value, 1, 1, "");
	else if ((value = value_of(word, "ext")))
		add_symbol(entry, value, 0, 0, "");
	else
		fail(word);
}

static const struct lazycuda_entry *read_entry(char *text, int fatbin)
{
	struct lazycuda_entry *entry = make(sizeof(*entry));
	char *rest, *word = strtok_r(text, " ", &rest);
	int at = 0;

	*entry = (struct lazycuda_entry){ .fatbin = fatbin, .level = -1,
					  .flags = LAZYCUDA_ENTRY_RELOCATABLE };
	for (; word; word = strtok_r(NULL, " ", &rest), at++) {
		if (at == 0) {
			entry->kind = kind_of(word);
		} else if (at == 1) {
			set_version(entry, word);
		} else if (at == 2) {
			if (sscanf(word, "sm_%d%c", &entry->arch, &entry->suffix) < 1)
				fail(word);
		} else {
			set_word(entry, word);
		}
	}
	return entry;
}

/* ---- a file ---- */

static void set_file_word(struct lazycuda_input *input, struct lazycuda_inspection *inspection,
			  const char *word)
{
	const char *value;

	if (!strcmp(word, "main"))
		input->flags |= LAZYCUDA_INPUT_MAIN;
	else if (!strcmp(word, "unseen"))
		input->inspection = NULL;
	else if ((value = value_of(word, "needs")))
		input->needs |= UINT64_C(1) << atoi(value);
	else if ((value = value_of(word, "is")))
		inspection->kind = kind_of(value);
	else if ((value = value_of(word, "declared")))
		input->kind = kind_of(value);
	else if ((value = value_of(word, "error")))
		inspection->error = value;
	else if ((value = value_of(word, "warning")))
		inspection->warning = value;
	else
		fail(word);
}

static void read_entries(char *text, struct lazycuda_inspection *inspection)
{
	const struct lazycuda_entry **entries = make(MOST * sizeof(*entries));
	int fatbin = -1;
	char *rest, *piece = strtok_r(text, "/", &rest);

	for (; piece; piece = strtok_r(NULL, "/", &rest)) {
		size_t length;

		if (*piece == '{') {
			fatbin = inspection->fatbin_count++;
			piece++;
		}
		length = strlen(piece);
		const int last = length && piece[length - 1] == '}';
		if (last)
			piece[length - 1] = '\0';
		if (*piece)
			entries[inspection->entry_count++] = read_entry(piece, fatbin);
		if (last)
			fatbin = -1;
	}
	inspection->entries = entries;
}

/* What the entries are the whole of, if nothing else was said. */
static enum lazycuda_kind natural_kind(const struct lazycuda_inspection *inspection)
{
	if (inspection->fatbin_count)
		return LAZYCUDA_KIND_FATBIN;
	return inspection->entry_count == 1 ? inspection->entries[0]->kind :
	       inspection->entry_count ? LAZYCUDA_KIND_ARCHIVE : LAZYCUDA_KIND_UNKNOWN;
}

static const struct lazycuda_input *read_input(const char *name, char *text)
{
	struct lazycuda_input *input = make(sizeof(*input));
	struct lazycuda_inspection *inspection = make(sizeof(*inspection));

	*input = (struct lazycuda_input){ .size = sizeof(*input), .inspection = inspection };
	input->name = *name ? name : NULL;
	inspection->size = sizeof(*inspection);
	while (*text == '+') {
		char *end = strchr(text, ';');

		if (!end)
			fail("a word of the file ends with ;");
		*end = '\0';
		set_file_word(input, inspection, text + 1);
		text = end + 1;
	}
	if (!strcmp(text, "source"))
		inspection->kind = LAZYCUDA_KIND_SOURCE;
	else
		read_entries(text, inspection);
	if (!inspection->kind)
		inspection->kind = natural_kind(inspection);
	return input;
}

/* Cuts "head:rest"; the rest, or the end of the program. */
static char *cut(char *text)
{
	char *colon = strchr(text, ':');

	if (!colon)
		fail(text);
	*colon = '\0';
	return colon + 1;
}

static const struct lazycuda_support *read_support(char *text)
{
	struct lazycuda_support *support = make(sizeof(*support));
	char *state = cut(text), *functions = cut(state), *code = cut(functions), *rest;
	const char **names = make(MOST * sizeof(*names));

	for (char *name = strtok_r(functions, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		names[support->function_count++] = name;
	support->size = sizeof(*support);
	support->name = text;
	support->enabled = !strcmp(state, "on");
	support->functions = names;
	support->input = *code ? read_input(text, code) : NULL;
	return support;
}

/* ---- all of it ---- */

static unsigned flags_of(const char *value)
{
	return (strstr(value, "across") ? LAZYCUDA_LINK_LTO_ACROSS_MAJORS : 0) |
	       (strstr(value, "offline") ? LAZYCUDA_LINK_OFFLINE : 0) |
	       (strstr(value, "forward") ? LAZYCUDA_LINK_FORWARD_COMPATIBLE : 0) |
	       (strstr(value, "isolated") ? LAZYCUDA_LINK_ISOLATED : 0) |
	       (strstr(value, "support") ? LAZYCUDA_LINK_NO_SUPPORT : 0) |
	       (strstr(value, "ignore") ? LAZYCUDA_LINK_IGNORE_NON_LTO : 0) |
	       (strstr(value, "wrong") ? 0x800u : 0);
}

static int choose(const char *value, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(value, names[i]))
			return i;
	return atoi(value);
}

/* "12.9,13.0" */
static void read_versions(char *value, int *list, size_t *count)
{
	for (char *word = strtok(value, ","); word; word = strtok(NULL, ","))
		list[(*count)++] = version(word);
}

static void read_word(struct scene *scene, char *word)
{
	static const char *const outputs[] = { "cubin", "ptx", "relocatable", "ltoir" };
	static const char *const policies[] = { "best_effort", "strict", "off" };
	struct lazycuda_request *request = &scene->request;
	char *equals = strchr(word, '='), *value = equals ? equals + 1 : word;

	if (!strcmp(word, "lto"))
		request->lto = 1;
	else if (value_of(word, "driver"))
		scene->environment.driver = version(value);
	else if (value_of(word, "branch"))
		scene->environment.branch = atoi(value);
	else if (value_of(word, "nvjitlink"))
		scene->environment.nvjitlink = version(value);
	else if (value_of(word, "nvjitlinks"))
		read_versions(value, scene->nvjitlinks, &scene->others.nvjitlink_count);
	else if (value_of(word, "nvvms"))
		read_versions(value, scene->nvvms, &scene->others.nvvm_count);
	else if (value_of(word, "libdevices"))
		read_versions(value, scene->libdevices, &scene->libdevice_count);
	else if (value_of(word, "nvrtcs"))
		read_versions(value, scene->nvrtcs, &scene->others.nvrtc_count);
	else if (value_of(word, "nvrtc"))
		scene->environment.nvrtc = version(value);
	else if (value_of(word, "arch"))
		request->arch = value;
	else if (value_of(word, "output"))
		request->output = choose(value, outputs, COUNT(outputs));
	else if (value_of(word, "policy"))
		request->policy = choose(value, policies, COUNT(policies));
	else if (value_of(word, "flags"))
		request->flags = flags_of(value);
	else if (value_of(word, "constraint"))
		request->constraint = value;
	else if (value_of(word, "option"))
		scene->options[request->option_count++] = value;
	else if (value_of(word, "compile"))
		scene->compile_options[request->compile_option_count++] = value;
	else if (value_of(word, "support"))
		scene->support[request->support_count++] = read_support(value);
	else if (value_of(word, "in"))
		scene->inputs[scene->count++] = read_input(value, cut(value));
	else
		fail(word);
}

struct scene scene_read(char **words, int count)
{
	struct scene scene = { .environment.size = sizeof(scene.environment),
			       .others.size = sizeof(scene.others),
			       .request = { .size = sizeof(scene.request), .arch = "sm_90" } };

	for (int i = 0; i < count; i++)
		read_word(&scene, words[i]);
	return scene;
}

const struct lazycuda_others *scene_others(struct scene *scene)
{
	scene->others.nvjitlinks = scene->nvjitlinks;
	scene->others.nvrtcs = scene->nvrtcs;
	scene->others.nvvms = scene->nvvms;
	scene->others.libdevices = scene->libdevice_count ? scene->libdevices : NULL;
	return &scene->others;
}
