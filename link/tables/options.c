/* SPDX-License-Identifier: MIT */
/* options.c - linker options: which nvJitLink takes them, what the driver calls them */
#include "options.h"

#include <string.h>

#include "versions.h"
#include "../../stubs/base/count.h"

enum value_kind {
	NO_VALUE,	/* a flag */
	BINARY,		/* 0 or 1; "true" makes nvJitLink fail when it links */
	THREADS,	/* a number; nvJitLink takes any, and fails later */
	REGISTERS,
	PERCENTAGE,
	ANY_TEXT,
	FILE_OR_NOTHING	/* a flag that may have "=FILE" behind it */
};

static const unsigned limits[] = {
	[BINARY] = 1, [THREADS] = 65535, [REGISTERS] = 65535, [PERCENTAGE] = 101
};

/* CUjit_option, as cuLinkCreate() numbers them in CUDA 11 and later. */
enum jit_option {
	MAX_REGISTERS = 0,
	OPTIMIZATION_LEVEL = 7,
	GENERATE_DEBUG_INFO = 11,
	LOG_VERBOSE = 12,
	GENERATE_LINE_INFO = 13,
	CACHE_MODE = 14
};

static const char *const jit_names[] = {
	[MAX_REGISTERS] = "CU_JIT_MAX_REGISTERS",
	[OPTIMIZATION_LEVEL] = "CU_JIT_OPTIMIZATION_LEVEL",
	[GENERATE_DEBUG_INFO] = "CU_JIT_GENERATE_DEBUG_INFO",
	[LOG_VERBOSE] = "CU_JIT_LOG_VERBOSE",
	[GENERATE_LINE_INFO] = "CU_JIT_GENERATE_LINE_INFO",
	[CACHE_MODE] = "CU_JIT_CACHE_MODE",
};

/* What the driver's linker makes of an option. */
struct on_driver {
	enum lk_option_fate fate;
	int jit_option;
	unsigned jit_value;	/* of a flag; other options have their own value */
	const char *why;
};

#define JIT(option, value) { LK_OPTION_TAKEN, option, value, NULL }
#define DROPPED(why) { LK_OPTION_DROPPED, 0, 0, why }
#define REFUSED(why) { LK_OPTION_REFUSED, 0, 0, why }

#define NO_FAST_COMPILE "the driver's linker has no fast compilation"
#define NO_SPLITTING "the driver's linker does not split compilation"
#define IN_LTO "it matters only to link-time optimisation, which the driver does not have"
#define KEEPS_ALL "the driver's linker keeps what is not used"
#define NO_OTHER_LEVEL "nvJitLink optimises with -O0 or -O3, and from 12.3 on"

/*
 * `since` is the first nvJitLink that takes the option and then links LTO-IR and
 * PTX with it, measured on each; 0: all do; NEVER: none does.  No version lost an
 * option that an earlier one had.  cuda.core, too, drops the options that are
 * dropped here for the driver.
 */
#define NEVER (-1)
static const struct option_row {
	const char *name;	/* with the '=' that its value follows */
	enum value_kind value;
	int since;
	int broken;		/* a version after `since` that cannot do it, or 0 */
	const char *why;	/* why not, where the versions do not say it all */
	struct on_driver driver;
} rows[] = {
	{ "-maxrregcount=", REGISTERS, 0, 0, NULL, JIT(MAX_REGISTERS, 0) },
	{ "-time", FILE_OR_NOTHING, 0, 0, NULL,
	  REFUSED("the driver's linker does not report times") },
	{ "-verbose", NO_VALUE, 0, 0, NULL, JIT(LOG_VERBOSE, 1) },
	{ "-O0", NO_VALUE, LC_CUDA(12, 3), 0, NO_OTHER_LEVEL, JIT(OPTIMIZATION_LEVEL, 0) },
	{ "-O1", NO_VALUE, NEVER, 0, NO_OTHER_LEVEL, JIT(OPTIMIZATION_LEVEL, 1) },
	{ "-O2", NO_VALUE, NEVER, 0, NO_OTHER_LEVEL, JIT(OPTIMIZATION_LEVEL, 2) },
	{ "-O3", NO_VALUE, LC_CUDA(12, 3), 0, NO_OTHER_LEVEL, JIT(OPTIMIZATION_LEVEL, 3) },
	{ "-O4", NO_VALUE, NEVER, 0, NO_OTHER_LEVEL, JIT(OPTIMIZATION_LEVEL, 4) },
	{ "-Ofc=0", NO_VALUE, LC_CUDA(12, 5), 0, NULL, DROPPED(NO_FAST_COMPILE) },
	{ "-Ofc=max", NO_VALUE, LC_CUDA(12, 5), 0, NULL, DROPPED(NO_FAST_COMPILE) },
	{ "-Ofc=mid", NO_VALUE, LC_CUDA(12, 9), 0, NULL, DROPPED(NO_FAST_COMPILE) },
	{ "-Ofc=min", NO_VALUE, LC_CUDA(12, 9), 0, NULL, DROPPED(NO_FAST_COMPILE) },
	{ "-g", NO_VALUE, 0, 0, NULL, JIT(GENERATE_DEBUG_INFO, 1) },
	{ "-lineinfo", NO_VALUE, 0, 0, NULL, JIT(GENERATE_LINE_INFO, 1) },
	{ "-ftz=", BINARY, 0, 0, NULL, DROPPED(IN_LTO) },
	{ "-prec-div=", BINARY, 0, 0, NULL, DROPPED(IN_LTO) },
	{ "-prec-sqrt=", BINARY, 0, 0, NULL, DROPPED(IN_LTO) },
	{ "-fma=", BINARY, 0, 0, NULL, DROPPED(IN_LTO) },
	{ "-kernels-used=", ANY_TEXT, 0, LC_CUDA(12, 1), "it crashes nvJitLink 12.1",
	  DROPPED(KEEPS_ALL) },
	{ "-variables-used=", ANY_TEXT, 0, LC_CUDA(12, 1), "it crashes nvJitLink 12.1",
	  DROPPED(KEEPS_ALL) },
	{ "-optimize-unused-variables", NO_VALUE, 0, 0, NULL, DROPPED(KEEPS_ALL) },
	{ "-Xptxas=", ANY_TEXT, 0, 0, NULL,
	  REFUSED("the driver's linker takes no options for ptxas") },
	{ "-Xnvvm=", ANY_TEXT, 0, 0, NULL, DROPPED(IN_LTO) },
	{ "-nvvm-latest", NO_VALUE, LC_CUDA(13, 5), 0, NULL, DROPPED(IN_LTO) },
	{ "-split-compile=", THREADS, LC_CUDA(12, 3), 0, NULL, REFUSED(NO_SPLITTING) },
	{ "-split-compile-extended=", THREADS, LC_CUDA(12, 3), 0, NULL, REFUSED(NO_SPLITTING) },
	{ "-jump-table-density=", PERCENTAGE, LC_CUDA(12, 3), 0, NULL, DROPPED(IN_LTO) },
	{ "-no-cache", NO_VALUE, LC_CUDA(12, 5), 0, NULL, JIT(CACHE_MODE, 0) },
	{ "-device-stack-protector", NO_VALUE, NEVER, 0,
	  "it is in nvJitLink's documentation, and no nvJitLink up to 13.5 takes it",
	  REFUSED("the driver's linker has no stack protector") },
};

/* Options that the plan sets itself, with a value or without. */
static const struct {
	const char *name, *why;
} reserved[] = {
	{ "-arch", "the target is the request's arch" },
	{ "-lto", "link-time optimisation is the request's lto" },
	{ "-dlto", "link-time optimisation is the request's lto" },
	{ "-ptx", "PTX is asked for by the request's output" },
	{ "-r", "a relocatable result is asked for by the request's output" },
	{ "-rdc", "a relocatable result is asked for by the request's output" },
	{ "-relocatable-device-code", "a relocatable result is asked for by the request's output" },
};

/* Returns true if an option has this name, with a value after it or without. */
static bool is_named(const char *option, const char *name)
{
	size_t length = strlen(name);

	if (name[length - 1] == '=')
		length--;
	return !strncmp(option, name, length) && (!option[length] || option[length] == '=');
}

/* Reads a decimal number up to a limit. */
static bool read_number(const char *text, unsigned limit, unsigned *number)
{
	unsigned value = 0;

	if (!*text)
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		value = 10 * value + (unsigned)(*text - '0');
		if (value > limit)
			return false;
	}
	*number = value;
	return !*text;
}

/* NULL, or why the option's value makes no sense. */
static const char *read_value(const struct option_row *row, const char *option, unsigned *number)
{
	static const char *const wanted[] = {
		[NO_VALUE] = "it takes no value",
		[BINARY] = "its value is 0 or 1",
		[THREADS] = "its value is a number of threads, 0 for all",
		[REGISTERS] = "its value is a number of registers",
		[PERCENTAGE] = "its value is a percentage, 0 to 101",
		[ANY_TEXT] = "it needs a value",
		[FILE_OR_NOTHING] = "its value is a file",
	};
	size_t length = strlen(row->name);
	bool right = !strncmp(option, row->name, length);

	if (row->value == NO_VALUE)
		right = right && !option[length];
	else if (row->value == ANY_TEXT)
		right = right && option[length];
	else if (row->value == FILE_OR_NOTHING)
		right = right && (!option[length] || option[length] == '=');
	else
		right = right && read_number(option + length, limits[row->value], number);
	return right ? NULL : wanted[row->value];
}

static struct lk_option_verdict judge_nvjitlink(const struct option_row *row, int version)
{
	struct lk_option_verdict verdict = { .since = row->since };
	bool any = version == LAZYCUDA_VERSION_UNKNOWN;

	if (row->since == NEVER)
		verdict = (struct lk_option_verdict){ .fate = LK_OPTION_REFUSED };
	else if (!any && (version < row->since || version == row->broken))
		verdict.fate = LK_OPTION_REFUSED;
	if (verdict.fate != LK_OPTION_TAKEN)
		verdict.why = row->why ? row->why : "this nvJitLink is older than the option";
	return verdict;
}

static struct lk_option_verdict judge_driver(const struct option_row *row, unsigned number)
{
	const struct on_driver *driver = &row->driver;
	bool taken = driver->fate == LK_OPTION_TAKEN;

	return (struct lk_option_verdict){
		.fate = driver->fate,
		.jit_option = driver->jit_option,
		.jit_value = row->value == NO_VALUE ? driver->jit_value : taken ? number : 0,
		.jit_name = taken ? jit_names[driver->jit_option] : NULL,
		.why = driver->why,
	};
}

struct lk_option_verdict lk_option_judge(const char *option, enum lazycuda_backend backend,
					 int version)
{
	for (size_t i = 0; i < LC_COUNT(reserved); i++)
		if (is_named(option, reserved[i].name))
			return (struct lk_option_verdict){ .fate = LK_OPTION_RESERVED,
							   .why = reserved[i].why };
	for (size_t i = 0; i < LC_COUNT(rows); i++) {
		unsigned number = 0;

		if (!is_named(option, rows[i].name))
			continue;
		const char *wrong = read_value(&rows[i], option, &number);
		if (wrong)
			return (struct lk_option_verdict){ .fate = LK_OPTION_MALFORMED,
							   .why = wrong };
		if (backend == LAZYCUDA_BACKEND_DRIVER)
			return judge_driver(&rows[i], number);
		return judge_nvjitlink(&rows[i], version);
	}
	return (struct lk_option_verdict){ .fate = LK_OPTION_UNKNOWN,
					   .why = "neither nvJitLink nor the driver has it" };
}
