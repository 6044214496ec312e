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

/* What is usual, and what is not: the last of two initialisers counts. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define REQUEST(...) (&(struct lazycuda_request){ \
	.size = sizeof(struct lazycuda_request), .arch = "sm_80", __VA_ARGS__ })
#define INPUT(...) (&(struct lazycuda_input){ \
	.size = sizeof(struct lazycuda_input), .bytes = ptx, .length = sizeof(ptx), __VA_ARGS__ })
/* Of which nothing is compiled here. */
#define SOURCE(...) (&(struct lazycuda_input){ .size = sizeof(struct lazycuda_input), \
	.bytes = "int x;", .length = 6, .kind = LAZYCUDA_KIND_SOURCE, __VA_ARGS__ })

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

/* A caller that knows less of the structs: what is behind is not looked at; and one that knows
 * more. */
static void other_callers(void)
{
	struct lazycuda_input older = *INPUT(.size = offsetof(struct lazycuda_input, needs));
	struct {
		struct lazycuda_input known;
		long added;
	} newer = { *INPUT(.size = sizeof(newer)), 1 };

	memset((char *)&older + older.size, 0xa5, sizeof(older) - older.size);
	run("an older caller", REQUEST(.size = offsetof(struct lazycuda_request, options),
				       .option_count = 5), &older);
	run("a newer caller's field", REQUEST(), &newer.known);
}

static void used_up(void)
{
	struct lazycuda_link *link = lazycuda_link_new(REQUEST(), &environment);

	lazycuda_link_run(link);
	printf("an input of a link that ran: %s\n",
	       lazycuda_code_name(lazycuda_link_add(link, INPUT())));
	lazycuda_link_free(link);
}

/* What lazycuda_link_new() returns when memory ran out. */
static int without_link(void)
{
	const struct lazycuda_result *result = lazycuda_link_run(NULL);

	printf("no link: %s and %s: %s%s\n", lazycuda_code_name(lazycuda_link_add(NULL, INPUT())),
	       lazycuda_code_name(result->code), result->message,
	       lazycuda_link_key(NULL) ? ", and a key" : "");
	lazycuda_link_setup(NULL, NULL);
	lazycuda_link_teardown(NULL, NULL);
	return lazycuda_link_cancel(NULL) != -1;
}

int main(void)
{
	const struct lazycuda_support *none[] = { NULL };
	const struct lazycuda_setting fused = { LAZYCUDA_SETTING_FMA, 0 }, no_setting = { 99, 1 };
	const struct lazycuda_setting twice[] = {
		{ LAZYCUDA_SETTING_DEBUG, 1 }, { LAZYCUDA_SETTING_DEBUG, 0 },
	};
	const char *const texts[] = { "x", NULL }, *const same[] = { "x", "y", "x" };

	lazycuda_link_free(NULL);
	run("no request", NULL, INPUT());
	run("a request without a size", REQUEST(.size = 0), INPUT());
	run("a size that ends within a field",
	    REQUEST(.size = offsetof(struct lazycuda_request, arch) + 4), INPUT());
	run("no input", REQUEST(), NULL);
	run("an input without bytes", REQUEST(), INPUT(.bytes = NULL, .length = 0));
	run("support that is not there", REQUEST(.support_count = 1), INPUT());
	run("endless support", REQUEST(.support = none, .support_count = (size_t)-1), INPUT());
	/* Without options, which has to be told from an array of none. */
	run("a setting alone", REQUEST(.settings = &fused, .setting_count = 1), INPUT());
	other_callers();
	/* What would be left out without a word. */
	run("a flag of an input that does not exist", REQUEST(), INPUT(.flags = 4));
	run("bytes and a path", REQUEST(), INPUT(.path = "k.ptx"));
	run("headers of PTX", REQUEST(), INPUT(.header_count = 1));
	run("a limit of a link that is not isolated", REQUEST(.time_limit = 1), INPUT());
	used_up();
	run("a setting that is there twice", REQUEST(.settings = twice, .setting_count = 2), INPUT());
	run("a setting that is none", REQUEST(.settings = &no_setting, .setting_count = 1), INPUT());
	run("a name expression that is NULL", REQUEST(),
	    SOURCE(.name_expressions = texts, .name_expression_count = 2));
	run("a header without a text", REQUEST(), SOURCE(.header_count = 1, .include_names = texts));
	run("a header that is there twice", REQUEST(),
	    SOURCE(.headers = same, .include_names = same, .header_count = 3));
	run("endless headers", REQUEST(),
	    SOURCE(.headers = texts, .include_names = texts, .header_count = (size_t)-1));
	return without_link();
}
