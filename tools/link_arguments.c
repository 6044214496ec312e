/* SPDX-License-Identifier: MIT */
/* link_arguments.c - reads the options that `plan` and `link` share */
#include "link_arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../link/tables/setting_words.h"
#include "../link/tables/versions.h"
#include "../stubs/base/guard.h"
#include "byte_count.h"
#include "say.h"
#include "text_file.h"
#include "../stubs/base/count.h"

const char link_arguments_usage[] =
"\n"
"  --arch ARCH          the target: sm_90, sm_90a; compute_90 with --ptx; from-inputs:sm_90,\n"
"                       that or sm_90a, as the inputs need it; default: native, the GPU\n"
"                       that is here; from-inputs: the same for that GPU\n"
"  --lto                optimise at link time\n"
"  --ptx, --ltoir, --relocatable\n"
"                       make that, not an image; one of the three\n"
"  --policy POLICY      best_effort, strict or off, also for what is loaded; default:\n"
"                       what LAZYCUDA_GUARD says, else best_effort\n"
"  --constraint LIST    versions of nvrtc and nvJitLink that may be used, \">=13.2,<14\"\n"
"  --setting NAME[=VALUE]\n"
"                       for compiler and linker, in the words of each: lineinfo, debug,\n"
"                       optimize=3, max-registers=N, fast-math, ftz=1, prec-div=0,\n"
"                       prec-sqrt=0, fma=0, fast-compile=max, split-compile=N; more\n"
"                       than once\n"
"  --option OPTION      for the linker, in nvJitLink's spelling; more than once\n"
"  --compile-option OPTION\n"
"                       for nvrtc; more than once\n"
"  --library FILE       LLVM IR of which libnvvm takes what other LLVM IR calls; more than\n"
"                       once\n"
"  --header NAME=FILE   source may #include <NAME>: the text of FILE; more than once\n"
"  --symbol NAME        a symbol that the result has to define; more than once\n"
"  --unpack-limit SIZE  unpack at most SIZE bytes of each file, such as 4G; default:\n"
"                       32 times the file, and at least 256M\n"
"  --lto-across-majors  take LTO-IR of an older CUDA major\n"
"  --ignore-non-lto     optimise at link time, and leave out what is not LTO-IR\n"
"  --ignore-tile        leave out Tile IR beside other code\n"
"  --tile-only          make an image of the Tile IR alone, with tileiras\n"
"  --offline            the result is for another machine\n"
"  --forward-compatible a forward-compatibility package makes up for an old driver\n"
"  --driver V, --nvjitlink V, --nvrtc V, --nvvm V\n"
"                       what is installed: 12.9, none or unknown; the driver also\n"
"                       by its own version, 580 or 550.120\n"
"  --json               the same as JSON\n";

/* ---- values ---- */

bool link_arguments_version(const char *text, int *version)
{
	if (!strcmp(text, "none"))
		*version = LAZYCUDA_VERSION_NONE;
	else if (!strcmp(text, "unknown"))
		*version = LAZYCUDA_VERSION_UNKNOWN;
	else
		return lk_version_parse(text, version);
	return true;
}

static bool take_driver(struct link_arguments *arguments, const char *value)
{
	struct lazycuda_environment *environment = &arguments->environment;

	return !lazycuda_read_driver(value, &environment->driver, &environment->branch);
}

static bool take_nvjitlink(struct link_arguments *arguments, const char *value)
{
	return link_arguments_version(value, &arguments->environment.nvjitlink);
}

static bool take_nvrtc(struct link_arguments *arguments, const char *value)
{
	return link_arguments_version(value, &arguments->environment.nvrtc);
}

static bool take_nvvm(struct link_arguments *arguments, const char *value)
{
	return link_arguments_version(value, &arguments->nvvm);
}

/* The loader's guard is the same setting. */
static bool take_policy(struct link_arguments *arguments, const char *value)
{
	enum lc_guard guard;

	if (!lc_guard_read(value, &guard) || setenv(LC_GUARD_VARIABLE, value, 1))
		return false;
	arguments->request.policy = (enum lazycuda_policy)guard;
	return true;
}

/* Takes the policy of LAZYCUDA_GUARD, which --policy overrides.  False if it is no guard. */
static bool take_guard(struct link_arguments *arguments, const struct link_command *command)
{
	const char *value = getenv(LC_GUARD_VARIABLE);

	if (!value || !*value || take_policy(arguments, value))
		return true;
	complain(command->name, LC_GUARD_VARIABLE "=%s is not a guard: use " LC_GUARDS, value);
	return false;
}

/* Sets the flag that LAZYCUDA_FORWARD_COMPATIBLE stands for.  False if its value is no switch. */
static bool take_forward(struct link_arguments *arguments, const struct link_command *command)
{
	const char *value = getenv(LC_FORWARD_VARIABLE);
	bool forward = false;

	if (value && *value && !lc_switch_read(value, &forward)) {
		complain(command->name, LC_FORWARD_VARIABLE "=%s is no switch: use " LC_SWITCHES,
			 value);
		return false;
	}
	if (forward)
		arguments->request.flags |= LAZYCUDA_LINK_FORWARD_COMPATIBLE;
	return true;
}

static bool take_arch(struct link_arguments *arguments, const char *value)
{
	arguments->request.arch = value;
	return true;
}

static bool take_constraint(struct link_arguments *arguments, const char *value)
{
	arguments->request.constraint = value;
	return true;
}

static bool take_setting(struct link_arguments *arguments, const char *value)
{
	struct lazycuda_setting *setting = &arguments->settings[arguments->request.setting_count++];

	return !lk_setting_read(value, setting);
}

static bool take_option(struct link_arguments *arguments, const char *value)
{
	arguments->options[arguments->request.option_count++] = value;
	return true;
}

static bool take_compile_option(struct link_arguments *arguments, const char *value)
{
	arguments->compile_options[arguments->request.compile_option_count++] = value;
	return true;
}

/* The file is read once the whole command line is known to make sense. */
static void add_file(struct link_arguments *arguments, const char *path, unsigned flags)
{
	arguments->inputs[arguments->input_count++] = (struct lazycuda_input){
		.size = sizeof(struct lazycuda_input), .path = path, .name = path, .flags = flags,
	};
}

static bool take_library(struct link_arguments *arguments, const char *value)
{
	add_file(arguments, value, LAZYCUDA_INPUT_LIBRARY);
	return true;
}

static bool take_header(struct link_arguments *arguments, const char *value)
{
	arguments->include_names[arguments->header_count] = strdup(value);
	return arguments->include_names[arguments->header_count++] && value[0] != '=' &&
	       strchr(value, '=') && strchr(value, '=')[1];
}

static bool take_symbol(struct link_arguments *arguments, const char *value)
{
	arguments->symbols[arguments->request.symbol_count++] = value;
	return true;
}

static bool take_unpack_limit(struct link_arguments *arguments, const char *value)
{
	return bytes_read(value, &arguments->request.unpack_limit);
}

static const struct {
	const char *name;
	bool (*take)(struct link_arguments *arguments, const char *value);
	bool environment;
} options[] = {
	{ "--driver", take_driver, true },
	{ "--nvjitlink", take_nvjitlink, true },
	{ "--nvrtc", take_nvrtc, true },
	{ "--nvvm", take_nvvm, true },
	{ "--arch", take_arch, false },
	{ "--policy", take_policy, false },
	{ "--constraint", take_constraint, false },
	{ "--setting", take_setting, false },
	{ "--option", take_option, false },
	{ "--compile-option", take_compile_option, false },
	{ "--library", take_library, false },
	{ "--header", take_header, false },
	{ "--symbol", take_symbol, false },
	{ "--unpack-limit", take_unpack_limit, false },
};

/* ---- flags ---- */

static const struct {
	const char *name;
	enum lazycuda_output output;
} outputs[] = {
	{ "--ptx", LAZYCUDA_OUTPUT_PTX },
	{ "--ltoir", LAZYCUDA_OUTPUT_LTOIR },
	{ "--relocatable", LAZYCUDA_OUTPUT_RELOCATABLE },
};

static const struct {
	const char *name;
	unsigned flag;
} flags[] = {
	{ "--lto-across-majors", LAZYCUDA_LINK_LTO_ACROSS_MAJORS },
	{ "--ignore-non-lto", LAZYCUDA_LINK_IGNORE_NON_LTO },
	{ "--ignore-tile", LAZYCUDA_LINK_IGNORE_TILE },
	{ "--tile-only", LAZYCUDA_LINK_TILE_ONLY },
	{ "--offline", LAZYCUDA_LINK_OFFLINE },
	{ "--forward-compatible", LAZYCUDA_LINK_FORWARD_COMPATIBLE },
};

/* Returns 1, 0 if there is no such flag, or -1 if it contradicts one before it. */
static int take_flag(struct link_arguments *arguments, const char *word)
{
	enum lazycuda_output *output = &arguments->request.output;

	for (size_t i = 0; i < LC_COUNT(outputs); i++) {
		if (strcmp(word, outputs[i].name))
			continue;
		if (*output != LAZYCUDA_OUTPUT_CUBIN && *output != outputs[i].output)
			return -1;
		*output = outputs[i].output;
		return 1;
	}
	for (size_t i = 0; i < LC_COUNT(flags); i++) {
		if (strcmp(word, flags[i].name))
			continue;
		arguments->request.flags |= flags[i].flag;
		return 1;
	}
	if (!strcmp(word, "--lto"))
		arguments->request.lto = 1;
	else if (!strcmp(word, "--json"))
		arguments->json = true;
	else
		return 0;
	return 1;
}

/* ---- words ---- */

/* Like take() of struct link_command, for the shared options. */
static int take_words(struct link_arguments *arguments, char **words)
{
	for (size_t i = 0; i < LC_COUNT(options); i++) {
		size_t length = strlen(options[i].name);
		const char *rest = words[0] + length, *value;
		bool joined;

		if (strncmp(words[0], options[i].name, length) || (*rest && *rest != '='))
			continue;
		joined = *rest;
		value = joined ? rest + 1 : words[1];
		if (!value || !options[i].take(arguments, value))
			return -1;
		arguments->environment_given |= options[i].environment;
		return joined ? 1 : 2;
	}
	return take_flag(arguments, words[0]);
}

int link_arguments_wrong(const struct link_command *command, const char *what, const char *word)
{
	return bad_usage(command->name, command->usage, link_arguments_usage, what, word);
}

static bool allocate_arguments(struct link_arguments *arguments, int argc)
{
	size_t room = (size_t)argc + 1;

	*arguments = (struct link_arguments){ .request.size = sizeof(arguments->request) };
	arguments->inputs = calloc(room, sizeof(*arguments->inputs));
	arguments->options = calloc(room, sizeof(*arguments->options));
	arguments->compile_options = calloc(room, sizeof(*arguments->compile_options));
	arguments->symbols = calloc(room, sizeof(*arguments->symbols));
	arguments->include_names = calloc(room, sizeof(*arguments->include_names));
	arguments->headers = calloc(room, sizeof(*arguments->headers));
	arguments->settings = calloc(room, sizeof(*arguments->settings));
	arguments->request.settings = arguments->settings;
	arguments->request.options = arguments->options;
	arguments->request.compile_options = arguments->compile_options;
	arguments->request.symbols = arguments->symbols;
	return arguments->inputs && arguments->options && arguments->compile_options &&
	       arguments->symbols && arguments->include_names && arguments->headers &&
	       arguments->settings;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static bool is_output(const char *word)
{
	for (size_t i = 0; i < LC_COUNT(outputs); i++)
		if (!strcmp(word, outputs[i].name))
			return true;
	return false;
}

/* Returns -1 to go on, else the exit status. */
static int read_words(struct link_arguments *arguments, const struct link_command *command,
		      int argc, char **argv)
{
	bool more = true;	/* options may follow */

	for (int i = 1, taken; i < argc; i += taken) {
		taken = 1;
		if (!more || argv[i][0] != '-' || !argv[i][1]) {
			add_file(arguments, argv[i], 0);
		} else if (is_help(argv[i])) {
			printf("%s%s", command->usage, link_arguments_usage);
			return 0;
		} else if (!strcmp(argv[i], "--")) {
			more = false;
		} else {
			taken = take_words(arguments, argv + i);
			if (!taken && command->take)
				taken = command->take(command->data, argv + i);
			if (taken <= 0)
				return link_arguments_wrong(command, !taken ? "unknown option " :
					is_output(argv[i]) ? "another output is asked for before " :
					"invalid value of ", argv[i]);
		}
	}
	return -1;
}

/* Reads the headers, for every input.  False, after a message, if a file cannot be read. */
static bool read_headers(struct link_arguments *arguments, const struct link_command *command)
{
	for (size_t i = 0; i < arguments->header_count; i++) {
		char *file = strchr((char *)arguments->include_names[i], '=');

		*file++ = 0;
		arguments->headers[i] = text_file_read(file);
		if (!arguments->headers[i]) {
			complain(command->name, "%s: %s", file, errno == EINVAL ?
				 "there is a NUL in it" : strerror(errno));
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

int link_arguments_read(struct link_arguments *arguments, const struct link_command *command,
			int argc, char **argv)
{
	struct lazycuda_environment given, *environment = &arguments->environment;
	/* A value that no installation has. */
	const int not_given = LAZYCUDA_VERSION_UNKNOWN - 1;
	int status;

	if (!allocate_arguments(arguments, argc)) {
		complain(command->name, "memory ran out");
		return 2;
	}
	if (!take_guard(arguments, command) || !take_forward(arguments, command))
		return 2;
	environment->driver = environment->nvjitlink = environment->nvrtc = not_given;
	arguments->nvvm = not_given;
	status = read_words(arguments, command, argc, argv);
	if (status >= 0)
		return status;
	if (!read_headers(arguments, command))
		return 2;
	given = *environment;
	*environment = (struct lazycuda_environment){ .size = sizeof(*environment) };
	/* Looking loads libraries: skip it if everything was given. */
	if (given.driver == not_given || given.nvjitlink == not_given || given.nvrtc == not_given)
		*environment = lazycuda_get_environment();
	if (given.driver != not_given) {
		environment->driver = given.driver;
		environment->branch = given.branch;
	}
	if (given.nvjitlink == not_given || given.nvrtc == not_given)
		take_others(arguments);
	if (given.nvjitlink != not_given) {
		environment->nvjitlink = given.nvjitlink;
		arguments->others.nvjitlink_count = 0;
	}
	if (given.nvrtc != not_given) {
		environment->nvrtc = given.nvrtc;
		arguments->others.nvrtc_count = 0;
	}
	if (arguments->nvvm != not_given)
		give_nvvm(arguments);
	return -1;
}

/* An unreadable file is wrong usage; a damaged one is a refusal. */
static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), error;
	char byte;
	bool can = fd >= 0 && read(fd, &byte, 1) >= 0;

	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return can;
}

bool link_arguments_readable(const struct link_arguments *arguments,
			     const struct link_command *command)
{
	for (size_t i = 0; i < arguments->input_count; i++) {
		const char *path = arguments->inputs[i].path;

		if (can_read(path))
			continue;
		complain(command->name, "%s: %s", path, strerror(errno));
		return false;
	}
	return true;
}

void link_arguments_free(struct link_arguments *arguments)
{
	for (size_t i = 0; i < arguments->header_count; i++) {
		free((char *)arguments->include_names[i]);
		free((char *)arguments->headers[i]);
	}
	free(arguments->include_names);
	free(arguments->headers);
	free(arguments->inputs);
	free(arguments->options);
	free(arguments->compile_options);
	free(arguments->symbols);
	free(arguments->settings);
}
