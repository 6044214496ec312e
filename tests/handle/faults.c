/* SPDX-License-Identifier: MIT */
/*
 * faults.c - links on fakes, everything failing in turn
 *
 *     faults calls|memory|images|logs|contexts driver|nvjitlink|source|main
 *
 * `calls` fails each call that the backend makes, one a link; `memory` fails
 * each allocation; `images` has the backend hand out what is no image; `logs`
 * has it say a lot; `contexts` links without a current context, and with one.  Whatever happens, the outcome has to be the right typed
 * one, nothing may be left alive, pushed or retained, and no memory lost.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include <lazycuda.h>
#include <lazycuda_link.h>

#include "../lib/memory.h"
#include "cubin.h"
#include "fake.h"

static int failures;

#define CHECK(condition, ...) \
	do { \
		if (!(condition)) { \
			failures++; \
			printf("line %d: ", __LINE__); \
			printf(__VA_ARGS__); \
			putchar('\n'); \
		} \
	} while (0)

/* ---- the fakes ---- */

static struct fake *nvjitlink, *nvrtc, *driver;
static int *current, *retained, *pushed, *all_retained, *all_pushed;

static void *find(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_NOW);
	void *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol) {
		printf("%s\n", dlerror());
		exit(2);
	}
	return symbol;
}

static void find_fakes(void)
{
	lazycuda_load("nvJitLink");
	lazycuda_load("nvrtc");
	nvjitlink = find(lazycuda_get_status("nvJitLink")->path, "fake");
	nvrtc = find(lazycuda_get_status("nvrtc")->path, "fake");
	driver = find("libcuda.so.1", "fake");
	retained = find("libcuda.so.1", "fake_retained");
	pushed = find("libcuda.so.1", "fake_pushed");
	all_retained = find("libcuda.so.1", "fake_all_retained");
	all_pushed = find("libcuda.so.1", "fake_all_pushed");
	current = find("libcuda.so.1", "fake_current");
}

/* ---- the links ---- */

static const char ptx[] =
	".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char other[] =
	".version 7.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }\n";
static const char source[] = "extern \"C\" __global__ void k() {}\n";

/* What nvrtc makes of a program that calls f(). */
static const char calls_f[] =
	".version 7.0\n.target sm_80\n.address_size 64\n.extern .func f();\n"
	".visible .entry k() { call.uni f, (); ret; }\n";

/* LTO-IR by 13.0 for sm_80, as much of it as anybody reads. */
static const unsigned char ltoir[64] = {
	0xed, 0x43, 0x4e, 0x7f, 1, 0x41, 2, 0x62, 3, 2, 7, 0, 0x18, 0, 1, 0,
	0x28, 0, 0, 0, 0x2c, 0, 0, 0, 1, 0, 0x20, 3, 2, 0, 2, 0,
	0x63, 0, 0, 0, 0, 0, 0, 0,
};

static const struct scenario {
	const char *name;
	struct fake **linker;
	int driver, nvjitlink, nvrtc, lto;
	const char *texts[2];
	size_t lengths[2];	/* texts that are as long, without their NUL */
	bool main;		/* the first is the program, the second a support module */
} scenarios[] = {
	{ "driver", &driver, 13000, 0, 0, 0, { ptx, other },
	  { sizeof(ptx) - 1, sizeof(other) - 1 }, false },
	{ "nvjitlink", &nvjitlink, 0, 13000, 0, 0, { ptx, other },
	  { sizeof(ptx) - 1, sizeof(other) - 1 }, false },
	{ "source", &nvjitlink, 0, 13000, 13000, 1, { source, NULL }, { sizeof(source) - 1, 0 },
	  false },
	{ "main", &nvjitlink, 0, 13000, 13000, 0, { source, other },
	  { sizeof(source) - 1, sizeof(other) - 1 }, true },
};

static struct cubin cubin;

static void reset(const struct scenario *scenario)
{
	*nvjitlink = *driver = (struct fake){
		.status = 6, .image = &cubin, .length = sizeof(cubin),
		.info = "linked", .error = "",
	};
	driver->status = 400;
	*nvrtc = (struct fake){ .status = 6, .image = ltoir, .length = sizeof(ltoir),
				.info = "compiled", .error = "error: no" };
	if (scenario->main) {
		nvrtc->image = calls_f;
		nvrtc->length = sizeof(calls_f);
	}
}

struct outcome {
	enum lazycuda_code code;
	char message[512];
	size_t info, error;	/* lengths of the logs */
};

/* What the callback was told is what the result has. */
static struct told {
	size_t lengths[3];	/* by the kind, with a line feed between two */
	unsigned long thread;
} told;

static void hear(void *data, enum lazycuda_log kind, size_t input, const char *text)
{
	struct told *here = data;

	CHECK(*text && (input == LAZYCUDA_NO_INDEX || input < 2), "input %zu says nothing", input);
	here->lengths[kind] += (here->lengths[kind] > 0) + strlen(text);
	here->thread = (unsigned long)pthread_self();
}

static void note(struct outcome *outcome, const struct lazycuda_result *result)
{
	outcome->code = result->code;
	outcome->info = strlen(result->info_log);
	outcome->error = strlen(result->error_log);
	CHECK(outcome->code == LAZYCUDA_CODE_NO_MEMORY ||
	      (told.lengths[LAZYCUDA_LOG_INFO] == outcome->info &&
	       told.lengths[LAZYCUDA_LOG_ERROR] == outcome->error),
	      "told of %zu and %zu bytes of logs", told.lengths[LAZYCUDA_LOG_INFO],
	      told.lengths[LAZYCUDA_LOG_ERROR]);
	CHECK(!told.thread || told.thread == (unsigned long)pthread_self(), "another thread");
	/* Not snprintf(), which may allocate. */
	strncpy(outcome->message, result->message, sizeof(outcome->message) - 1);
	CHECK(!result->image == (result->code != LAZYCUDA_CODE_OK), "image and code differ");
	CHECK(!result->image || (result->image_length == sizeof(cubin) &&
				 !memcmp(result->image, &cubin, sizeof(cubin))),
	      "not the image that was handed out");
	CHECK(*result->message, "no message");
}

static struct outcome link_inputs(const struct scenario *scenario)
{
	static const char *const functions[] = { "f" };
	struct lazycuda_input inputs[2];
	const struct lazycuda_support module = {
		.size = sizeof(module), .name = "module", .enabled = 1, .functions = functions,
		.function_count = 1, .input = &inputs[1],
	}, *modules[] = { &module };
	const char *symbols[] = { "k" }, *const names[] = { "h" };
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = "sm_80", .lto = scenario->lto,
		.symbols = symbols, .symbol_count = 1, .log = hear, .log_data = &told,
		.support = modules, .support_count = scenario->main,
	};
	const struct lazycuda_environment environment = {
		.size = sizeof(environment), .driver = scenario->driver,
		.nvjitlink = scenario->nvjitlink, .nvrtc = scenario->nvrtc,
	};
	struct outcome outcome = { .code = LAZYCUDA_CODE_NO_MEMORY };
	struct lazycuda_link *link;
	bool added;

	told = (struct told){ .lengths = { 0 } };
	for (int i = 0; i < 2; i++)
		inputs[i] = (struct lazycuda_input){
			.size = sizeof(*inputs), .name = "input", .bytes = scenario->texts[i],
			.length = scenario->lengths[i],
			.include_names = names, .headers = names,
			.header_count = scenario->nvrtc && !i,
			.flags = scenario->main && !i ? LAZYCUDA_INPUT_MAIN : 0,
		};
	link = lazycuda_link_new(&request, &environment);
	added = link;
	for (int i = 0; i < 2 - scenario->main && added && scenario->texts[i]; i++)
		added = !lazycuda_link_add(link, &inputs[i]);
	if (link)	/* also if an input is missing: that is remembered */
		note(&outcome, lazycuda_link_run(link));
	CHECK(added || outcome.code == LAZYCUDA_CODE_NO_MEMORY, "a lost input is forgotten");
	lazycuda_link_free(link);
	return outcome;
}

static struct outcome run(const struct scenario *scenario)
{
	long before = live;
	struct outcome outcome = link_inputs(scenario);

	CHECK(live <= before, "%ld blocks are lost", live - before);
	return outcome;
}

static void check_nothing_left(const char *what)
{
	CHECK(!nvjitlink->alive && !nvrtc->alive && !driver->alive, "%s: something lives", what);
	CHECK(!*retained && !*pushed, "%s: a context is retained or pushed", what);
}

/* ---- what fails ---- */

static bool has(const char *text, const char *part)
{
	return strstr(text, part);
}

/* Without logs, and with what cannot be undone, there still is an image. */
static enum lazycuda_code expected(const char *call)
{
	if (has(call, "Destroy") || has(call, "Log") || has(call, "Pop") || has(call, "Release"))
		return LAZYCUDA_CODE_OK;
	if (has(call, "nvrtc"))
		return LAZYCUDA_CODE_COMPILE_FAILED;
	return has(call, "Link") ? LAZYCUDA_CODE_LINK_FAILED : LAZYCUDA_CODE_DRIVER_FAILED;
}

static int fail_calls_of(const struct scenario *scenario, struct fake *fake)
{
	int call;

	for (call = 1;; call++) {
		struct outcome outcome;

		reset(scenario);
		fake->fail_at = call;
		outcome = run(scenario);
		if (!fake->failed)
			break;
		CHECK(outcome.code == expected(fake->failed), "%s fails: %s: %s", fake->failed,
		      lazycuda_code_name(outcome.code), outcome.message);
		check_nothing_left(fake->failed);
	}
	return call - 1;
}

static void fail_calls(const struct scenario *scenario)
{
	int calls = fail_calls_of(scenario, *scenario->linker);

	if (scenario->nvrtc)
		calls += fail_calls_of(scenario, nvrtc);
	CHECK(calls > 8, "only %d calls", calls);
	printf("calls failed: %d\n", calls);
}

static void fail_memory(const struct scenario *scenario)
{
	long number;

	for (number = 1;; number++) {
		struct outcome outcome;

		reset(scenario);
		ran_out = false;
		room = number - 1;
		outcome = run(scenario);
		room = -1;
		if (!ran_out)
			break;
		/* What fails in the fake itself, fails as it says. */
		CHECK(outcome.code == LAZYCUDA_CODE_NO_MEMORY ||
		      has(outcome.message, "Create returned"), "allocation %ld: %s: %s", number,
		      lazycuda_code_name(outcome.code), outcome.message);
		check_nothing_left("without memory");
	}
	CHECK(number > 9, "only %ld allocations", number);
	printf("allocations failed: %ld\n", number - 1);
}

/* ---- what is no image ---- */

static void hand_out(const struct scenario *scenario, const void *image, size_t length,
		     enum lazycuda_code code, const char *why)
{
	struct outcome outcome;

	reset(scenario);
	(*scenario->linker)->image = image;
	(*scenario->linker)->length = length;
	outcome = run(scenario);
	CHECK(outcome.code == code && has(outcome.message, why), "%s: %s: %s", why,
	      lazycuda_code_name(outcome.code), outcome.message);
	check_nothing_left(why);
}

static void images(const struct scenario *scenario)
{
	static const char garbage[256] = "this is no image";
	struct cubin changed = cubin;

	hand_out(scenario, &cubin, 0, LAZYCUDA_CODE_BAD_IMAGE, "an image of 0 bytes");
	hand_out(scenario, garbage, sizeof(garbage), LAZYCUDA_CODE_BAD_IMAGE, "the image");
	changed = cubin;
	memcpy(changed.names, "\0m", 3);
	hand_out(scenario, &changed, sizeof(changed), LAZYCUDA_CODE_BAD_IMAGE, "does not define k");
	if (scenario->linker == &nvjitlink)
		hand_out(scenario, &cubin, (size_t)1 << 40, LAZYCUDA_CODE_BAD_IMAGE,
			 "1099511627776");
}

static void logs(const struct scenario *scenario)
{
	static char much[200000];
	struct fake *linker = *scenario->linker;
	struct outcome outcome;

	memset(much, 'a', sizeof(much) - 1);
	reset(scenario);
	linker->info = linker->error = much;
	outcome = run(scenario);
	CHECK(outcome.code == LAZYCUDA_CODE_OK, "%s", outcome.message);
	CHECK(outcome.info > 60000 && outcome.error > 60000, "logs of %zu and %zu bytes",
	      outcome.info, outcome.error);
	reset(scenario);
	linker->error = "Undefined reference to 'f' in 'input'";
	linker->fail_at = linker == driver ? 9 : 4;
	outcome = run(scenario);
	CHECK(outcome.code == LAZYCUDA_CODE_UNDEFINED_SYMBOL, "%s: %s",
	      lazycuda_code_name(outcome.code), outcome.message);
	check_nothing_left("logs");
}

/* The one that is current is used; else one is retained and given back. */
static void contexts(const struct scenario *scenario)
{
	for (*current = 0; *current < 2; ++*current) {
		reset(scenario);
		*all_retained = *all_pushed = 0;
		CHECK(run(scenario).code == LAZYCUDA_CODE_OK, "it does not link");
		CHECK(*all_retained == !*current && *all_pushed == !*current,
		      "retained %d, pushed %d", *all_retained, *all_pushed);
		check_nothing_left("a context");
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const struct scenario *);
	} faults[] = {
		{ "calls", fail_calls }, { "memory", fail_memory }, { "images", images },
		{ "logs", logs }, { "contexts", contexts },
	};

	cubin = make_cubin();
	find_fakes();
	for (size_t i = 0; argc == 3 && i < sizeof(faults) / sizeof(*faults); i++)
		for (size_t k = 0; k < sizeof(scenarios) / sizeof(*scenarios); k++)
			if (!strcmp(argv[1], faults[i].name) &&
			    !strcmp(argv[2], scenarios[k].name)) {
				reset(&scenarios[k]);
				link_inputs(&scenarios[k]);	/* what is done once is done */
				faults[i].run(&scenarios[k]);
			}
	puts(failures ? "failed" : "done");
	return failures != 0;
}
