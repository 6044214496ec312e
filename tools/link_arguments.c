/* SPDX-License-Identifier: MIT */
/* link_arguments.c - reads the options that `plan` and `link` share */
#include "link_arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../link/tables/setting_words.h"
#include "../link/tables/versions.h"
#include "../stubs/base/guard.h"
#include "../stubs/base/regular.h"
#include "say.h"
#include "../stubs/base/count.h"

/* ---- values ---- */

bool link_arguments_version(const char *text, void *at)
{
	int *version = at;

	if (!strcmp(text, "none"))
		*version = LAZYCUDA_VERSION_NONE;
	else if (!strcmp(text, "unknown"))
		*version = LAZYCUDA_VERSION_UNKNOWN;
	else
		return lk_version_parse(text, version);
	return true;
}

static bool read_driver(const char *value, void *at)
{
	struct lazycuda_environment *environment = at;

	return !lazycuda_read_driver(value, &environment->driver, &environment->branch);
}

/* The loader's guard is the same setting. */
static bool take_policy(void *data, const char *value)
{
	struct link_arguments *arguments = data;
	enum lc_guard guard;

	if (!lc_guard_read(value, &guard) || setenv(LC_GUARD_VARIABLE, value, 1))
		return false;
	arguments->request.policy = (enum lazycuda_policy)guard;
	return true;
}

/* Takes the policy of LAZYCUDA_GUARD, which --policy overrides.  False if it is no guard. */
static bool take_guard(struct link_arguments *arguments, const struct command *command)
{
	const char *value = getenv(LC_GUARD_VARIABLE);

	if (!value || !*value || take_policy(arguments, value))
		return true;
	complain(command->name, LC_GUARD_VARIABLE "=%s is not a guard: use " LC_GUARDS, value);
	return false;
}

/* Sets the flag that LAZYCUDA_FORWARD_COMPATIBLE stands for.  False if its value is no switch. */
static bool take_forward(struct link_arguments *arguments, const struct command *command)
{
	const char *value = getenv(LC_FORWARD_VARIABLE);
	bool forward = false;

	if (value && *value && !lc_switch_read(value, &forward)) {
		complain(command->name, LC_FORWARD_VARIABLE "=%s is not a switch: use " LC_SWITCHES,
			 value);
		return false;
	}
	if (forward)
		arguments->request.flags |= LAZYCUDA_LINK_FORWARD_COMPATIBLE;
	return true;
}

static bool take_setting(void *data, const char *value)
{
	struct link_arguments *arguments = data;

	return !lk_setting_read(value, &arguments->settings[arguments->request.setting_count++]);
}

/* The file is read once the whole command line is known to make sense. */
static void add_file(struct link_arguments *arguments, const char *path, unsigned flags)
{
	arguments->inputs[arguments->input_count++] = (struct lazycuda_input){
		.size = sizeof(struct lazycuda_input), .path = path, .name = path, .flags = flags,
	};
}

static void take_file(void *data, const char *word)
{
	add_file(data, word, 0);
}

static bool take_library(void *data, const char *value)
{
	add_file(data, value, LAZYCUDA_INPUT_LIBRARY);
	return true;
}

static bool take_header(void *data, const char *value)
{
	struct link_arguments *arguments = data;

	arguments->include_names[arguments->header_count++] = lc_text(&arguments->arena, value);
	return value[0] != '=' && strchr(value, '=') && strchr(value, '=')[1];
}

/* False if there are several. */
static bool take_output(struct link_arguments *arguments)
{
	while (arguments->outputs && !(arguments->outputs >> arguments->request.output & 1))
		arguments->request.output++;
	return arguments->outputs <= 1u << arguments->request.output;
}

#define AT(member) .at = offsetof(struct link_arguments, member)
#define FLAG(flag) AT(request.flags), .bits = LAZYCUDA_LINK_##flag
#define OUTPUT(output) AT(outputs), .bits = 1u << LAZYCUDA_OUTPUT_##output

const struct option link_arguments_options[] = {
	{ "--arch", "ARCH", "the target: sm_90, sm_90a; compute_90 with --ptx; from-inputs:sm_90,"
	  " that or sm_90a, as the inputs need it; default: native, the GPU that is here;"
	  " from-inputs: the same for that GPU", AT(request.arch) },
	{ "--lto", NULL, "optimise at link time; LTO-IR among the inputs implies it", AT(lto) },
	{ "--ptx", NULL, "make PTX, not an image", OUTPUT(PTX) },
	{ "--ltoir", NULL, "make LTO-IR, not an image", OUTPUT(LTOIR) },
	{ "--relocatable", NULL, "make a relocatable cubin, not an image", OUTPUT(RELOCATABLE) },
	{ "--policy", "POLICY", "best_effort takes what is sure to work; strict links with"
	  " nvJitLink only where its major is the driver's; off takes nvJitLink whenever there is"
	  " one. Also the guard by which libraries are loaded; default: what LAZYCUDA_GUARD says,"
	  " else best_effort", .take = take_policy, .wants = LC_GUARDS },
	{ "--constraint", "LIST", "versions of nvrtc and nvJitLink that may be used,"
	  " \">=13.2,<14\"", AT(request.constraint) },
	{ "--setting", "NAME[=VALUE]", "for compiler and linker, in the words of each: lineinfo,"
	  " debug, optimize=3, max-registers=N, fast-math, ftz=1, prec-div=0, prec-sqrt=0, fma=0,"
	  " fast-compile=max, split-compile=N; may be given again", .take = take_setting,
	  .wants = "a setting that --help lists, such as optimize=3" },
	{ "--option", "OPTION", "for the linker, in nvJitLink's spelling; may be given again",
	  AT(options), .many = true },
	{ "--compile-option", "OPTION", "for nvrtc; may be given again",
	  AT(compile_options), .many = true },
	{ "--library", "FILE", "LLVM IR of which libnvvm takes what other LLVM IR calls; may be"
	  " given again", .take = take_library },
	{ "--header", "NAME=FILE", "source may #include <NAME>: the text of FILE, before a file"
	  " of that name in the folders of -I; may be given again", .take = take_header,
	  .wants = "a name and a file, NAME=FILE" },
	{ "--symbol", "NAME", "a symbol that the result has to define; may be given again",
	  AT(symbols), .many = true },
	{ "--unpack-limit", "SIZE", "unpack at most SIZE bytes of each file, such as 4G; default:"
	  " 32 times the file, and at least 256M. More is refused: UNPACK_LIMIT",
	  AT(request.unpack_limit), .read = bytes_read, .wants = "a size, such as 4G" },
	{ "--lto-across-majors", NULL, "take LTO-IR of an older CUDA major, which worked in every"
	  " case tried, but is promised in none", FLAG(LTO_ACROSS_MAJORS) },
	{ "--ignore-non-lto", NULL, "optimise at link time, and leave out what is neither LTO-IR"
	  " nor source; notes name it", FLAG(IGNORE_NON_LTO) },
	{ "--ignore-tile", NULL, "leave out Tile IR beside other code", FLAG(IGNORE_TILE) },
	{ "--tile-only", NULL, "make an image of the Tile IR alone, with tileiras", FLAG(TILE_ONLY) },
	{ "--offline", NULL, "the result is for another machine: the driver here need not load it",
	  FLAG(OFFLINE) },
	{ "--forward-compatible", NULL, "a forward-compatibility package makes up for an old"
	  " driver, as with LAZYCUDA_FORWARD_COMPATIBLE=1", FLAG(FORWARD_COMPATIBLE) },
	{ "--driver", "V", "plan for this driver: 12.9, none or unknown, or its own version, 580"
	  " or 550.120; default: what is installed", AT(environment), .read = read_driver,
	  .wants = "a version of CUDA such as 12.9, none or unknown, or a driver's own version such as 580" },
	{ "--nvjitlink", "V", "plan for this nvJitLink: 12.9, none or unknown; default: of those"
	  " installed what fits", AT(environment.nvjitlink),
	  .read = link_arguments_version, .wants = LINK_VERSION_WANTS },
	{ "--nvrtc", "V", "plan for this nvrtc, as with --nvjitlink", AT(environment.nvrtc),
	  .read = link_arguments_version, .wants = LINK_VERSION_WANTS },
	{ "--nvvm", "V", "plan for this libnvvm, as with --nvjitlink", AT(nvvm),
	  .read = link_arguments_version, .wants = LINK_VERSION_WANTS },
	{ "--json", NULL, "print JSON", AT(json) },
	{ .name = NULL },
};

/* ---- words ---- */

static bool allocate_arguments(struct link_arguments *arguments, int argc)
{
	struct lc_arena *arena = &arguments->arena;
	const size_t room = (size_t)argc + 1, words = room * sizeof(const char *);

	*arguments = (struct link_arguments){ .request.size = sizeof(arguments->request) };
	arguments->inputs = lc_alloc(arena, room * sizeof(*arguments->inputs));
	arguments->settings = lc_alloc(arena, room * sizeof(*arguments->settings));
	arguments->options.list = lc_alloc(arena, words);
	arguments->compile_options.list = lc_alloc(arena, words);
	arguments->symbols.list = lc_alloc(arena, words);
	arguments->include_names = lc_alloc(arena, words);
	arguments->headers = lc_alloc(arena, words);
	return !arena->failed;
}

static void fill_request(struct link_arguments *arguments)
{
	struct lazycuda_request *request = &arguments->request;

	request->lto = arguments->lto;
	request->settings = arguments->settings;
	request->options = arguments->options.list;
	request->option_count = arguments->options.count;
	request->compile_options = arguments->compile_options.list;
	request->compile_option_count = arguments->compile_options.count;
	request->symbols = arguments->symbols.list;
	request->symbol_count = arguments->symbols.count;
}

/* Returns the text of a file; NULL, with errno, if it cannot be read.  EINVAL: there is a NUL in it,
 * so that it is no text. */
static const char *read_text(struct lc_arena *arena, const char *path)
{
	struct stat st;
	FILE *file = NULL;
	char *text = NULL, *copy = NULL;
	size_t room = 0;
	ssize_t length;
	int error;

	/* /dev/null and the shell's pipes are as good as a file; a FIFO may wait for ever. */
	if (!lstat(path, &st) && S_ISFIFO(st.st_mode))
		errno = ENXIO;
	else
		file = fopen(path, "re");
	if (!file)
		return NULL;
	length = getdelim(&text, &room, 0, file);
	error = ferror(file) ? errno : length > 0 && !text[length - 1] ? EINVAL : 0;
	if (!error)
		copy = lc_copy(arena, text, length < 0 ? 0 : (size_t)length);	/* of an empty file -1 */
	free(text);
	fclose(file);
	errno = error ? error : ENOMEM;
	return copy;
}

/* Reads the headers, for every input.  False, after a message, if a file cannot be read. */
static bool read_headers(struct link_arguments *arguments, const struct command *command)
{
	for (size_t i = 0; i < arguments->header_count; i++) {
		char *file = strchr((char *)arguments->include_names[i], '=');

		*file++ = 0;
		arguments->headers[i] = read_text(&arguments->arena, file);
		if (!arguments->headers[i]) {
			if (errno == EINVAL)
				complain(command->name, "%s: there is a NUL in it", file);
			else
				complain_of(command->name, file, errno);
			return false;
		}
	}
	for (size_t i = 0; i < arguments->input_count; i++) {
		arguments->inputs[i].include_names = arguments->include_names;
		arguments->inputs[i].headers = arguments->headers;
		arguments->inputs[i].header_count = arguments->header_count;
	}
	return true;
}

static void take_others(struct link_arguments *arguments)
{
	const struct lazycuda_others *others = lazycuda_get_others();

	if (!others)
		return;
	arguments->others = *others;
	arguments->request.others = &arguments->others;
}

/* One libnvvm, with its libdevice, or none. */
static void give_nvvm(struct link_arguments *arguments)
{
	struct lazycuda_others *others = &arguments->others;

	others->size = sizeof(*others);
	others->nvvms = others->libdevices = &arguments->nvvm;
	others->nvvm_count = arguments->nvvm != LAZYCUDA_VERSION_NONE;
	arguments->request.others = others;
}

int link_arguments_read(struct link_arguments *arguments, const struct command *command,
			int argc, char **argv)
{
	struct lazycuda_environment given, *environment = &arguments->environment;
	int status;

	if (!allocate_arguments(arguments, argc)) {
		complain(command->name, "memory ran out");
		return 2;
	}
	if (!take_guard(arguments, command) || !take_forward(arguments, command))
		return 2;
	environment->driver = environment->nvjitlink = environment->nvrtc = NOT_GIVEN;
	arguments->nvvm = NOT_GIVEN;
	if (options_read(command, arguments, argc, argv, take_file, &status) < 0)
		return status;
	if (!take_output(arguments))
		return options_wrong(command, "more than one is asked for of --ptx, --ltoir and"
				     " --relocatable", "");
	fill_request(arguments);
	if (!read_headers(arguments, command))
		return 2;
	given = *environment;
	*environment = (struct lazycuda_environment){ .size = sizeof(*environment) };
	arguments->environment_given = given.driver != NOT_GIVEN || given.nvjitlink != NOT_GIVEN ||
				       given.nvrtc != NOT_GIVEN || arguments->nvvm != NOT_GIVEN;
	/* Looking loads libraries: skip it if everything was given. */
	if (given.driver == NOT_GIVEN || given.nvjitlink == NOT_GIVEN || given.nvrtc == NOT_GIVEN)
		*environment = lazycuda_get_environment();
	if (given.driver != NOT_GIVEN) {
		environment->driver = given.driver;
		environment->branch = given.branch;
	}
	if (given.nvjitlink == NOT_GIVEN || given.nvrtc == NOT_GIVEN)
		take_others(arguments);
	if (given.nvjitlink != NOT_GIVEN) {
		environment->nvjitlink = given.nvjitlink;
		arguments->others.nvjitlink_count = 0;
	}
	if (given.nvrtc != NOT_GIVEN) {
		environment->nvrtc = given.nvrtc;
		arguments->others.nvrtc_count = 0;
	}
	if (arguments->nvvm != NOT_GIVEN)
		give_nvvm(arguments);
	return -1;
}

bool link_arguments_readable(const struct link_arguments *arguments,
			     const struct command *command)
{
	for (size_t i = 0; i < arguments->input_count; i++) {
		const char *path = arguments->inputs[i].path;

		/* An unreadable file is wrong usage; a damaged one is a refusal. */
		if (can_read(path))
			continue;
		complain_of(command->name, path, errno);
		return false;
	}
	return true;
}
