/* SPDX-License-Identifier: MIT */
/* setting_words.c - a setting as options of nvrtc, nvJitLink and libnvvm */
#include "setting_words.h"

#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/glibc.h"
#include "versions.h"

enum setting_value {
	ON,		/* 0 or 1; 0 is as if the setting were not there */
	YES_OR_NO,	/* 0 or 1 */
	LEVEL,
	COUNT,		/* of registers */
	PARALLEL,	/* a number of threads; 0: as many as there are CPUs */
	EFFORT		/* 0 to 3: "0", "min", "mid", "max" */
};

static const struct {
	int least, most;
	const char *wanted;
} values[] = {
	[ON] = { 0, 1, "its value is 1, or 0, which is the same as to leave it out" },
	[YES_OR_NO] = { 0, 1, "its value is 0 or 1" },
	[LEVEL] = { 0, 4, "its value is a level, 0 to 4" },
	[COUNT] = { 1, 65535, "its value is a number of registers" },
	[PARALLEL] = { 0, 65535, "its value is a number of threads, 0 for all" },
	[EFFORT] = { 0, 3, "its value is 0, min, mid or max" },
};

#define NVVM_LEVEL 3	/* libnvvm's highest */

static const char *const efforts[] = { "0", "min", "mid", "max" };

/*
 * The options of each tool; a value follows where one ends in '='.  `since` is the first nvrtc
 * that takes the option, `since_between` the first that takes a value that is neither the least
 * nor the most; measured on each from 11.7 to 13.5, to PTX and to LTO-IR.  0: all do.  options.c
 * says which nvJitLink takes its option, and what the driver makes of it.  An nvrtc that makes
 * PTX or LTO-IR has no levels: it optimises unless -G is given.  All libnvvms have the same
 * options, measured on eleven of 12.0 to 13.5; none is for line numbers, which the IR has or
 * lacks.
 *
 * `also` are other options of nvrtc or nvJitLink that say the same or a part of it: other
 * spellings, and the parts of fast math.
 */
static const struct setting_row {
	const char *name;
	enum setting_value value;
	const char *nvrtc;
	int since, since_between;
	const char *nvjitlink[LK_SETTING_WORDS];
	const char *also[LK_SETTING_WORDS];
	const char *nvvm[LK_SETTING_WORDS];
} rows[] = {
	[LAZYCUDA_SETTING_LINEINFO] = { "lineinfo", ON, "-lineinfo", 0, 0, { "-lineinfo" },
		{ "generate-line-info" }, { NULL } },
	[LAZYCUDA_SETTING_DEBUG] = { "debug", ON, "-G", 0, 0, { "-g" },
		{ "device-debug" }, { "-g", "-opt=0" } },
	[LAZYCUDA_SETTING_OPTIMIZE] = { "optimize", LEVEL, NULL, 0, 0, { "-O" },
		{ NULL }, { "-opt=" } },
	[LAZYCUDA_SETTING_MAX_REGISTERS] = {
		"max-registers", COUNT, "-maxrregcount=", 0, 0, { "-maxrregcount=" },
		{ NULL }, { NULL } },
	[LAZYCUDA_SETTING_FAST_MATH] = {
		"fast-math", ON, "-use_fast_math", 0, 0,
		{ "-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1" },
		{ "ftz", "prec-div", "prec-sqrt", "fmad" },
		{ "-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1" } },
	[LAZYCUDA_SETTING_FTZ] = {
		"ftz", YES_OR_NO, "-ftz=", 0, 0, { "-ftz=" }, { "use_fast_math" },
		{ "-ftz=" } },
	[LAZYCUDA_SETTING_PREC_DIV] = {
		"prec-div", YES_OR_NO, "-prec-div=", 0, 0, { "-prec-div=" },
		{ "use_fast_math" }, { "-prec-div=" } },
	[LAZYCUDA_SETTING_PREC_SQRT] = {
		"prec-sqrt", YES_OR_NO, "-prec-sqrt=", 0, 0, { "-prec-sqrt=" },
		{ "use_fast_math" }, { "-prec-sqrt=" } },
	[LAZYCUDA_SETTING_FMA] = {
		"fma", YES_OR_NO, "-fmad=", 0, 0, { "-fma=" }, { "use_fast_math" },
		{ "-fma=" } },
	[LAZYCUDA_SETTING_FAST_COMPILE] = {
		"fast-compile", EFFORT, "-Ofc=", LC_CUDA(12, 5), LC_CUDA(12, 9), { "-Ofc=" },
		{ "Ofast-compile" }, { NULL } },
	[LAZYCUDA_SETTING_SPLIT_COMPILE] = {
		"split-compile", PARALLEL, "-split-compile=", LC_CUDA(12, 0), LC_CUDA(12, 0),
		{ "-split-compile=" }, { NULL }, { NULL } },
};

static const struct setting_row *row_of(const struct lazycuda_setting *setting)
{
	size_t number = (unsigned)setting->kind;

	return number < LC_COUNT(rows) && rows[number].name ? &rows[number] : NULL;
}

const char *lk_setting_wrong(const struct lazycuda_setting *setting)
{
	const struct setting_row *row = row_of(setting);

	if (!row)
		return "there is no such setting";
	return setting->value < values[row->value].least ||
	       setting->value > values[row->value].most ? values[row->value].wanted : NULL;
}

const char *lk_setting_name(const struct lazycuda_setting *setting)
{
	const struct setting_row *row = row_of(setting);

	return row ? row->name : NULL;
}

int lk_setting_since(const struct lazycuda_setting *setting)
{
	const struct setting_row *row = row_of(setting);
	bool between = setting->value > values[row->value].least &&
		       setting->value < values[row->value].most;

	return between ? row->since_between : row->since;
}

/* ---- from text ---- */

static bool read_setting_value(const struct setting_row *row, const char *text, int *value)
{
	char *end;
	long number;

	for (size_t i = 0; row->value == EFFORT && i < LC_COUNT(efforts); i++)
		if (!strcmp(text, efforts[i])) {
			*value = (int)i;
			return true;
		}
	number = strtol(text, &end, 10);
	*value = (int)number;
	return row->value != EFFORT && *text >= '0' && *text <= '9' && !*end && number == *value;
}

const char *lk_setting_read(const char *text, struct lazycuda_setting *setting)
{
	size_t length = strcspn(text, "=");

	for (size_t i = 0; i < LC_COUNT(rows); i++) {
		if (!rows[i].name || strlen(rows[i].name) != length ||
		    memcmp(rows[i].name, text, length))
			continue;
		*setting = (struct lazycuda_setting){ (enum lazycuda_setting_kind)i, 1 };
		if (text[length] ? !read_setting_value(&rows[i], text + length + 1, &setting->value) :
				   rows[i].value != ON)
			return values[rows[i].value].wanted;
		return lk_setting_wrong(setting);
	}
	return "there is no such setting";
}

/* ---- in the words of a tool ---- */

/* For nvrtc, yes and no are true and false; otherwise the tools spell a value alike. */
static const char *value_text(struct lc_arena *arena, const struct setting_row *row, int value,
			      enum lk_tool tool)
{
	if (row->value == EFFORT)
		return efforts[value];
	if (row->value == YES_OR_NO && tool == LK_NVRTC)
		return value ? "true" : "false";
	if (row->value == LEVEL && tool == LK_NVVM && value > NVVM_LEVEL)
		value = NVVM_LEVEL;
	return lc_format(arena, "%d", value);
}

/* A tool's options in a row, *most of them at most. */
static const char *const *words_of(const struct setting_row *row, enum lk_tool tool, size_t *most)
{
	*most = tool == LK_NVRTC ? 1 : LK_SETTING_WORDS;
	return tool == LK_NVRTC ? &row->nvrtc : tool == LK_NVVM ? row->nvvm : row->nvjitlink;
}

size_t lk_setting_words(struct lc_arena *arena, const struct lazycuda_setting *setting,
			enum lk_tool tool, const char *words[LK_SETTING_WORDS])
{
	const struct setting_row *row = row_of(setting);
	size_t most, count = 0;
	const char *const *own = words_of(row, tool, &most);

	if (row->value == ON && !setting->value)
		return 0;
	for (; count < most && own[count]; count++)
		words[count] = row->value == ON ? own[count] :
			lc_format(arena, "%s%s", own[count],
				  value_text(arena, row, setting->value, tool));
	return count;
}

/* The part that names an option: "ftz" of "--ftz=true", "O" of "-O3". */
static const char *name_part(const char *option, size_t *length)
{
	while (*option == '-')
		option++;
	*length = strcspn(option, "=");
	for (bool valued = option[*length]; !valued && *length && option[*length - 1] >= '0' &&
	     option[*length - 1] <= '9';)
		--*length;
	return option;
}

bool lk_is_same_option(const char *option, const char *other)
{
	size_t length, other_length;
	const char *name = name_part(option, &length);
	const char *other_name = name_part(other, &other_length);

	return length == other_length && !memcmp(name, other_name, length);
}

bool lk_setting_says(const struct lazycuda_setting *setting, enum lk_tool tool, const char *option)
{
	const struct setting_row *row = row_of(setting);
	size_t most;
	const char *const *own = words_of(row, tool, &most);

	if (!*own || (row->value == ON && !setting->value))
		return false;
	for (size_t i = 0; i < most && own[i]; i++)
		if (lk_is_same_option(own[i], option))
			return true;
	for (size_t i = 0; i < LK_SETTING_WORDS && row->also[i]; i++)
		if (lk_is_same_option(row->also[i], option))
			return true;
	return false;
}
