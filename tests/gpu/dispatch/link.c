/* SPDX-License-Identifier: MIT */
/*
 * link.c - the dispatch module: every kind of input, linked by nvJitLink and by the
 * driver, loaded, and computing what it has to; what a plan says against what the
 * driver really loads
 *
 * argv[1] is the folder of device code.
 */
#include <stdbool.h>

#include "../driver/driver.h"
#include "lazycuda_link.h"

enum {
	COUNT = 256,
	LINKER = 12000,		/* of what nvJitLink of 12.9 makes, drivers of 12 load all */
};

static const char *folder;
static char arch[16];
static bool has_device;

/* What no change of ours can make work here: reported, and not a failure. */
static bool is_a_lack(int code)
{
	switch (code) {
	case LAZYCUDA_CODE_NO_BACKEND:
	case LAZYCUDA_CODE_NVJITLINK_REQUIRED:
	case LAZYCUDA_CODE_NVJITLINK_TOO_OLD:
	case LAZYCUDA_CODE_NVRTC_REQUIRED:
	case LAZYCUDA_CODE_CROSS_MAJOR:
	case LAZYCUDA_CODE_DRIVER_TOO_OLD:
	case LAZYCUDA_CODE_PTX_TOO_NEW:
	case LAZYCUDA_CODE_CUBIN_TOO_NEW:
	case LAZYCUDA_CODE_ARCH_UNSUPPORTED:
	case LAZYCUDA_CODE_BACKEND_MISSING:
		return true;
	}
	return false;
}

static char *path_of(const char *name, const char *suffix)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s.%s", folder, name, suffix) < 0)
		exit(2);
	return path;
}

static void loaded(const void *image)
{
	void *module, *function;
	int got[COUNT], n = COUNT, right = 0;
	address memory;
	void *parameters[] = { &memory, &n };

	const int result = cuModuleLoadData(&module, image);
	int driver = 0;

	cuDriverGetVersion(&driver);
	if (result && driver < LINKER) {
		gave_up("cuModuleLoadData", result);
		return;
	}
	if (result) {
		value("loaded", "%d %s wrong", result, error_name(result));
		return;
	}
	DO(cuModuleGetFunction(&function, module, "combine"));
	DO(cuMemAlloc_v2(&memory, sizeof(got)));
	DO(cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, NULL, parameters, NULL));
	DO(cuMemcpyDtoH_v2(got, memory, sizeof(got)));
	for (int i = 0; i < COUNT; i++)
		right += got[i] == 3 * i + 1 + 5;
	are_right("computed", right, COUNT);
	DO(cuMemFree_v2(memory));
	DO(cuModuleUnload(module));
}

static void report(const struct lazycuda_result *result, bool by_driver, int expected)
{
	const char *name = lazycuda_code_name(result->code);
	const enum lazycuda_backend wanted =
		by_driver ? LAZYCUDA_BACKEND_DRIVER : LAZYCUDA_BACKEND_NVJITLINK;

	if (!result->code && result->plan->backend != wanted)
		printf("- %s the plan takes the other linker: %s\n", part, result->plan->message);
	else if (by_driver && !has_device && !expected)
		printf("- %s no device: %s: %s\n", part, name, result->message);
	else if (expected)
		value("refused", "%s %s", name, result->code == (enum lazycuda_code)expected ?
		      "right" : "wrong");
	else if (is_a_lack(result->code))
		printf("- %s %s: %s\n", part, name, result->message);
	else if (result->code)
		value("linked", "%s: %s %s wrong", name, result->message, result->error_log);
	else if (has_device)
		loaded(result->image);
	else	/* what came out, the dispatch module has looked at */
		is_right("linked", result->image && result->image_length);
}

/* `expected`: the code of a refusal that is right on every machine. */
static void link_pair(const char *title, const char *first, const char *second, bool by_driver,
		      bool lto, int expected)
{
	struct lazycuda_environment environment = lazycuda_get_environment();
	struct lazycuda_request request = { .size = sizeof(request), .arch = arch, .lto = lto };
	struct lazycuda_input a = { .size = sizeof(a), .path = first };
	struct lazycuda_input b = { .size = sizeof(b), .path = second };
	struct lazycuda_link *link;

	part = title;
	if (access(first, R_OK) || (second && access(second, R_OK))) {
		printf("- %s there is no such code for %s in the bundle\n", part, arch);
		return;
	}
	if (by_driver)
		environment.nvjitlink = LAZYCUDA_VERSION_NONE;
	else	/* whenever there is one */
		request.policy = LAZYCUDA_POLICY_OFF;
	link = lazycuda_link_new(&request, &environment);
	if (!link || lazycuda_link_add(link, &a) || (second && lazycuda_link_add(link, &b)))
		exit(2);
	report(lazycuda_link_run(link), by_driver, expected);
	lazycuda_link_free(link);
}

/* Kinds whose code is for one architecture, and those that are for many. */
static void kinds(void)
{
	static const struct {
		const char *kind, *suffix;
		bool of_arch, lto;
		int refused_by_driver;
	} rows[] = {
		{ "ptx", "ptx", false, false, 0 },
		{ "cubin", "cubin", true, false, 0 },
		{ "ltoir", "ltoir", true, true, LAZYCUDA_CODE_NVJITLINK_REQUIRED },
		{ "fatbin", "fatbin", false, false, 0 },
		{ "object", "o", false, false, 0 },
		{ "archive", "a", false, false, 0 },
		{ "source", "cu", false, false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int by_driver = 0; by_driver < 2; by_driver++) {
			static char title[40], first[40], second[40];
			const char *of = rows[i].of_arch ? arch + 3 : "all";

			snprintf(title, sizeof(title), "%s-by-%s", rows[i].kind,
				 by_driver ? "driver" : "nvjitlink");
			snprintf(first, sizeof(first), "linked_%s", of);
			snprintf(second, sizeof(second), "helper_%s", of);
			link_pair(title, path_of(first, rows[i].suffix),
				  path_of(second, rows[i].suffix), by_driver, rows[i].lto,
				  by_driver ? rows[i].refused_by_driver : 0);
		}
}

/* The driver's own linker, asked directly; CUBIN is 0 and PTX 1. */
static int linked_by_driver(void *bytes, size_t length, int kind)
{
	void *link, *image = NULL, *module = NULL;
	size_t size = 0;
	int result = cuLinkCreate_v2(0, NULL, NULL, &link);

	if (result)
		return result;
	result = cuLinkAddData_v2(link, kind, bytes, length, "small", 0, NULL, NULL);
	if (!result)
		result = cuLinkComplete(link, &image, &size);
	if (!result)
		result = cuModuleLoadData(&module, image);
	cuLinkDestroy(link);
	if (module)
		cuModuleUnload(module);
	return result;
}

/* Of an image of one toolkit: what a plan for the driver alone says, and what the driver
 * does.  A plan may be more careful than the driver, and never less. */
static void verdict(const char *toolkit, const char *suffix)
{
	struct lazycuda_environment environment = lazycuda_get_environment();
	struct lazycuda_request request = { .size = sizeof(request), .arch = arch };
	struct lazycuda_input input = { .size = sizeof(input) };
	const struct lazycuda_input *const inputs[] = { &input };
	struct lazycuda_inspection *inspection;
	struct lazycuda_plan *plan;
	const char *error = NULL;
	size_t length = 0;
	char name[80];
	void *bytes;
	int result;

	snprintf(name, sizeof(name), "small_%s_%s", toolkit, arch + 3);
	input.path = path_of(name, suffix);
	part = "verdict";
	if (!has_device || access(input.path, R_OK))
		return;
	inspection = lazycuda_inspect_file(input.path, LAZYCUDA_INSPECT_PAYLOADS);
	input.inspection = inspection;
	environment.nvjitlink = LAZYCUDA_VERSION_NONE;
	plan = lazycuda_plan(&environment, &request, inputs, 1);
	bytes = lazycuda_entry_payload(inspection, 0, 1, &length, &error);
	result = bytes ? linked_by_driver(bytes, length, !strcmp(suffix, "ptx")) : -1;
	snprintf(name, sizeof(name), "%s-%s", toolkit, suffix);
	value(name, "plan %s, driver %d %s", lazycuda_code_name(plan->code), result,
	      plan->backend == LAZYCUDA_BACKEND_DRIVER && result ? "wrong" : "right");
	if (plan->backend != LAZYCUDA_BACKEND_DRIVER && !result)
		printf("%% the plan refuses %s of %s (%s) and the driver loads it\n", suffix,
		       toolkit, lazycuda_code_name(plan->code));
	free(bytes);
	lazycuda_plan_free(plan);
	lazycuda_inspection_free(inspection);
}

int main(int count, char **words)
{
	static const char *const toolkits[] = { "11.8", "12.9", "13.5" };
	int major = 9, minor = 0;	/* for one without a device */

	if (count != 2)
		return 2;
	folder = words[1];
	has_device = !cuInit(0);
	if (has_device) {
		begin();
		cuDeviceGetAttribute(&major, 75, device);
		cuDeviceGetAttribute(&minor, 76, device);
	} else {
		printf("- loading no device: cuInit says so\n");
	}
	snprintf(arch, sizeof(arch), "sm_%d%d", major, minor);
	kinds();
	/* {PTX sm_52, LTO-IR sm_52, LTO-IR sm_61}: the driver takes the LTO-IR of it, and fails;
	 * the plan hands it the PTX alone. */
	link_pair("container-by-plan", path_of("container", "fatbin"), NULL, true, false, 0);
	for (size_t i = 0; i < 3; i++) {
		verdict(toolkits[i], "ptx");
		verdict(toolkits[i], "cubin");
	}
	return finish();
}
