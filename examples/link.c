/* SPDX-License-Identifier: MIT */
/*
 * link.c - compiles two sources to LTO-IR and links them with what is installed
 *
 *	cc examples/link.c -Iinclude -Lbuild/lib -llazycuda_link -o link
 *	LD_LIBRARY_PATH=build/lib ./link [sm_90]
 *
 * Without any CUDA it still runs, and says what is missing.
 */
#include <stdio.h>
#include <string.h>

#include <lazycuda_link.h>

static const char kernel[] =
	"extern \"C\" __device__ float twice(float);\n"
	"extern \"C\" __global__ void all(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }\n";
static const char helper[] =
	"extern \"C\" __device__ float twice(float x) { return 2 * x; }\n";

static void add(struct lazycuda_link *link, const char *name, const char *text,
	       struct lazycuda_input *input)
{
	*input = (struct lazycuda_input){
		.size = sizeof(*input), .kind = LAZYCUDA_KIND_SOURCE,
		.name = name, .bytes = text, .length = strlen(text),
	};
	lazycuda_link_add(link, input);	/* what is wrong with it, the result says, too */
}

int main(int argc, char **argv)
{
	const char *symbols[] = { "all" };	/* that the image has to define */
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = argc > 1 ? argv[1] : "sm_90", .lto = 1,
		.symbols = symbols, .symbol_count = 1,
	};
	struct lazycuda_input inputs[2];
	struct lazycuda_link *link = lazycuda_link_new(&request, NULL);

	add(link, "kernel.cu", kernel, &inputs[0]);
	add(link, "helper.cu", helper, &inputs[1]);
	const struct lazycuda_result *result = lazycuda_link_run(link);

	printf("%s: %s\n", lazycuda_code_name(result->code), result->message);
	if (result->code == LAZYCUDA_CODE_OK)	/* for cuModuleLoadData() */
		printf("an image of %zu bytes for %s\n", result->image_length, request.arch);
	if (*result->error_log)
		printf("%s\n", result->error_log);
	int failed = result->code != LAZYCUDA_CODE_OK;
	lazycuda_link_free(link);	/* frees the result, too */
	return failed;
}
