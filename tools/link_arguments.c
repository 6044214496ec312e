/* SPDX-License-Identifier: MIT */
/* link_arguments.c - reads the options that `plan` and `link` share */
#include "link_arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../link/tables/versions.h"
#include "bytes.h"
#include "say.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* From this major on, a --driver version is a display driver's branch, not a CUDA version. */
#define FIRST_BRANCH 100

const char link_arguments_usage[] =
"\n"
"  --arch ARCH          the target: sm_90, sm_90a; compute_90 with --ptx\n"
"  --lto                optimise at link time\n"
"  --ptx, --ltoir, --relocatable\n"
"                       make that, not an image\n"
"  --policy POLICY      best_effort, strict or off\n"
"  --constraint LIST    on nvrtc and nvJitLink, \">=13.2,<14\"\n"
"  --option OPTION      for the linker, in nvJitLink's spelling; more than once\n"
"  --compile-option OPTION\n"
"                       for nvrtc; more than once\n"
"  --symbol NAME        that the result has to define; more than once\n"
"  --unpack-limit SIZE  unpack at most so much of each file, 4G say; without it that\n"
"                       is 32 times the file, and at least 256M\n"
"  --lto-across-majors  take LTO-IR of an older CUDA major\n"
"  --offline            the result is for another machine\n"
"  --forward-compatible a forward-compatibility package makes up for an old driver\n"
"  --driver V, --nvjitlink V, --nvrtc V\n"
"                       what is installed: 12.9, none or unknown; the driver also\n"
"                       by its own version, 580 or 580.65.06\n"
"  --json               the same as JSON\n";

/* ---- values ---- */

static bool read_version(const char *text, int *version)
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
	int version;

	if (!read_version(value, &version))
		return false;
	environment->branch = 0;
	environment->driver = version;
	if (version < LK_CUDA(FIRST_BRANCH, 0))
		return true;
	environment->branch = LK_CUDA_MAJOR(version);
	environment->driver = lk_cuda_of_branch(environment->branch);
	return environment->driver;
}

static bool take_nvjitlink(struct link_arguments *arguments, const char *value)
{
	return read_version(value, &arguments->environment.nvjitlink);
}

static bool take_nvrtc(struct link_arguments *arguments, const char *value)
{
	return read_version(value, &arguments->environment.nvrtc);
}

static bool take_policy(struct link_arguments *arguments, const char *value)
{
	static const struct {
		const char *name;
		enum lazycuda_policy policy;
	} policies[] = {
		{ "best_effort", LAZYCUDA_POLICY_BEST_EFFORT },
		{ "strict", LAZYCUDA_POLICY_STRICT },
		{ "off", LAZYCUDA_POLICY_OFF },
	};

	for (size_t i = 0; i < COUNT(policies); i++) {
		if (strcmp(value, policies[i].name))
			continue;
		arguments->request.policy = policies[i].policy;
		return true;
	}
	return false;
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
	{ "--arch", take_arch, false },
	{ "--policy", take_policy, false },
	{ "--constraint", take_constraint, false },
	{ "--option", take_option, false },
	{ "--compile-option", take_compile_option, false },
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
	{ "--offline", LAZYCUDA_LINK_OFFLINE },
	{ "--forward-compatible", LAZYCUDA_LINK_FORWARD_COMPATIBLE },
};

static bool take_flag(struct link_arguments *arguments, const char *word)
{
	for (size_t i = 0; i < COUNT(outputs); i++) {
		if (strcmp(word, outputs[i].name))
			continue;
		arguments->request.output = outputs[i].output;
		return true;
	}
	for (size_t i = 0; i < COUNT(flags); i++) {
		if (strcmp(word, flags[i].name))
			continue;
		arguments->request.flags |= flags[i].flag;
		return true;
	}
	if (!strcmp(word, "--lto"))
		arguments->request.lto = 1;
	else if (!strcmp(word, "--json"))
		arguments->json = true;
	else
		return false;
	return true;
}

/* ---- words ---- */

/* Like take() of struct link_command, for the shared options. */
static int take_words(struct link_arguments *arguments, char **words)
{
	for (size_t i = 0; i < COUNT(options); i++) {
		size_t length = strlen(options[i].name);
		bool joined = words[0][length] == '=';
		const char *value = joined ? words[0] + length + 1 : words[1];

		if (strncmp(words[0], options[i].name, length) || (words[0][length] && !joined))
			continue;
		if (!value || !options[i].take(arguments, value))
			return -1;
		arguments->environment_given |= options[i].environment;
		return joined ? 1 : 2;
	}
	return take_flag(arguments, words[0]);
}

int link_arguments_wrong(const struct link_command *command, const char *what, const char *word)
{
	complain(command->name, "%s%s", what, word);
	fprintf(stderr, "%s%s", command->usage, link_arguments_usage);
	return 2;
}

static bool allocate(struct link_arguments *arguments, int argc)
{
	size_t room = (size_t)argc + 1;

	*arguments = (struct link_arguments){ .request.size = sizeof(arguments->request) };
	arguments->inputs = calloc(room, sizeof(*arguments->inputs));
	arguments->options = calloc(room, sizeof(*arguments->options));
	arguments->compile_options = calloc(room, sizeof(*arguments->compile_options));
	arguments->symbols = calloc(room, sizeof(*arguments->symbols));
	arguments->request.options = arguments->options;
	arguments->request.compile_options = arguments->compile_options;
	arguments->request.symbols = arguments->symbols;
	return arguments->inputs && arguments->options && arguments->compile_options &&
	       arguments->symbols;
}

static void add_file(struct link_arguments *arguments, const char *path)
{
	arguments->inputs[arguments->input_count++] = (struct lazycuda_input){
		.size = sizeof(struct lazycuda_input), .path = path, .name = path,
	};
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* Returns -1 to go on, else the exit status. */
static int read_words(struct link_arguments *arguments, const struct link_command *command,
		      int argc, char **argv)
{
	bool more = true;	/* options may follow */

	for (int i = 1, taken; i < argc; i += taken) {
		taken = 1;
		if (!more || argv[i][0] != '-' || !argv[i][1]) {
			add_file(arguments, argv[i]);
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
				return link_arguments_wrong(command, taken ?
					"there is no sense in the value of " :
					"there is no option ", argv[i]);
		}
	}
	return -1;
}

int link_arguments_read(struct link_arguments *arguments, const struct link_command *command,
			int argc, char **argv)
{
	struct lazycuda_environment given, *environment = &arguments->environment;
	/* A value that no installation has. */
	const int not_given = LAZYCUDA_VERSION_UNKNOWN - 1;
	int status;

	if (!allocate(arguments, argc)) {
		complain(command->name, "memory ran out");
		return 2;
	}
	environment->driver = environment->nvjitlink = environment->nvrtc = not_given;
	status = read_words(arguments, command, argc, argv);
	if (status >= 0)
		return status;
	given = *environment;
	*environment = (struct lazycuda_environment){ .size = sizeof(*environment) };
	/* Looking loads libraries: skip it if everything was given. */
	if (given.driver == not_given || given.nvjitlink == not_given || given.nvrtc == not_given)
		*environment = lazycuda_get_environment();
	if (given.driver != not_given) {
		environment->driver = given.driver;
		environment->branch = given.branch;
	}
	if (given.nvjitlink != not_given)
		environment->nvjitlink = given.nvjitlink;
	if (given.nvrtc != not_given)
		environment->nvrtc = given.nvrtc;
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
	free(arguments->inputs);
	free(arguments->options);
	free(arguments->compile_options);
	free(arguments->symbols);
}
