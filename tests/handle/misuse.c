/* SPDX-License-Identifier: MIT */
/* misuse.c - requests and inputs that make no sense, and those of older callers */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <lazycuda_link.h>

static const struct lazycuda_environment environment = {
	.size = sizeof(environment), .nvjitlink = 13000,
};
static const char ptx[] =
	".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

static void run(const char *what, const struct lazycuda_request *request,
		const struct lazycuda_input *input)
{
	struct lazycuda_link *link = lazycuda_link_new(request, &environment);
	const struct lazycuda_result *result;
	enum lazycuda_code added = LAZYCUDA_CODE_OK;

	if (input)
		added = lazycuda_link_add(link, input);
	result = lazycuda_link_run(link);
	printf("%s: %s%s%s\n", what, lazycuda_code_name(added ? added : result->code),
	       added ? " and " : "", added ? lazycuda_code_name(result->code) : "");
	lazycuda_link_setup(link, NULL);
	lazycuda_link_teardown(link, NULL);
	lazycuda_link_free(link);
}

int main(void)
{
	struct lazycuda_request request = { .size = sizeof(request), .arch = "sm_80" };
	struct lazycuda_input input = { .size = sizeof(input), .bytes = ptx,
					.length = sizeof(ptx) };
	const struct lazycuda_support *none[] = { NULL };
	struct lazycuda_request changed = request;
	struct lazycuda_input other = input;

	lazycuda_link_free(NULL);
	run("no request", NULL, &input);
	changed.size = 0;
	run("a request without a size", &changed, &input);
	changed.size = offsetof(struct lazycuda_request, arch) + 4;
	run("a size that ends within a field", &changed, &input);
	run("no input", &request, NULL);
	other = (struct lazycuda_input){ .size = sizeof(other) };
	run("an input without bytes", &request, &other);
	changed = request;
	changed.support_count = 1;
	run("support that is not there", &changed, &input);
	changed.support = none;
	changed.support_count = (size_t)-1;
	run("endless support", &changed, &input);
	/* Without options, which has to be told from an array of none. */
	const struct lazycuda_setting fused = { LAZYCUDA_SETTING_FMA, 0 };

	changed = request;
	changed.settings = &fused;
	changed.setting_count = 1;
	run("a setting alone", &changed, &input);
	/* A caller that knows less of the structs: what is behind is not looked at. */
	changed = request;
	changed.size = offsetof(struct lazycuda_request, options);
	changed.option_count = 5;
	other = input;
	other.size = offsetof(struct lazycuda_input, needs);
	memset((char *)&other + other.size, 0xa5, sizeof(other) - other.size);
	run("an older caller", &changed, &other);
	/* One that knows more. */
	struct {
		struct lazycuda_input known;
		long added;
	} newer = { input, 0 };

	newer.known.size = sizeof(newer);
	newer.added = 1;
	run("a newer caller's field", &request, &newer.known);
	/* What would be left out without a word. */
	other = input;
	other.flags = 4;
	run("a flag of an input that does not exist", &request, &other);
	other = input;
	other.path = "k.ptx";
	run("bytes and a path", &request, &other);
	other = input;
	other.header_count = 1;
	run("headers of PTX", &request, &other);
	changed = request;
	changed.time_limit = 1;
	run("a limit of a link that is not isolated", &changed, &input);
	struct lazycuda_link *link = lazycuda_link_new(&request, &environment);

	lazycuda_link_run(link);
	printf("an input of a link that ran: %s\n", lazycuda_code_name(lazycuda_link_add(link, &input)));
	lazycuda_link_free(link);
	const struct lazycuda_setting twice[] = {
		{ LAZYCUDA_SETTING_DEBUG, 1 }, { LAZYCUDA_SETTING_DEBUG, 0 }, { 99, 1 },
	};

	changed = request;
	changed.settings = twice;
	changed.setting_count = 2;
	run("a setting that is there twice", &changed, &input);
	changed.settings = twice + 2;
	changed.setting_count = 1;
	run("a setting that is none", &changed, &input);
	/* Source, of which nothing is compiled here. */
	const char *const texts[] = { "x", NULL };

	other = (struct lazycuda_input){ .size = sizeof(other), .bytes = "int x;", .length = 6,
					 .kind = LAZYCUDA_KIND_SOURCE };
	other.name_expressions = texts;
	other.name_expression_count = 2;
	run("a name expression that is NULL", &request, &other);
	other.name_expression_count = 0;
	other.header_count = 1;
	other.include_names = texts;
	run("a header without a text", &request, &other);
	const char *const same[] = { "x", "y", "x" };

	other.include_names = other.headers = same;
	other.header_count = 3;
	run("a header that is there twice", &request, &other);
	other.headers = other.include_names = texts;
	other.header_count = (size_t)-1;
	run("endless headers", &request, &other);
	/* What lazycuda_link_new() returns when memory ran out. */
	const struct lazycuda_result *result = lazycuda_link_run(NULL);

	printf("no link: %s and %s: %s%s\n", lazycuda_code_name(lazycuda_link_add(NULL, &input)),
	       lazycuda_code_name(result->code), result->message,
	       lazycuda_link_key(NULL) ? ", and a key" : "");
	lazycuda_link_setup(NULL, NULL);
	lazycuda_link_teardown(NULL, NULL);
	return lazycuda_link_cancel(NULL) != -1;
}
