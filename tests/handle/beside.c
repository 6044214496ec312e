/* SPDX-License-Identifier: MIT */
/*
 * beside.c - links for a target, and says what the stubs have loaded then
 *
 *	beside [--offline] ARCH FILE...
 */
#include <stdio.h>
#include <string.h>

#include <lazycuda.h>
#include <lazycuda_link.h>

int main(int argc, char **argv)
{
	const int offline = argc > 1 && !strcmp(argv[1], "--offline");
	struct lazycuda_request request = { .size = sizeof(request), .arch = argv[1 + offline],
		.flags = offline ? LAZYCUDA_LINK_OFFLINE : 0 };
	struct lazycuda_link *link = lazycuda_link_new(&request, NULL);
	const struct lazycuda_status *status;
	const char *code;

	for (int i = 2 + offline; i < argc; i++)
		lazycuda_link_add(link, &(struct lazycuda_input){
			.size = sizeof(struct lazycuda_input), .path = argv[i] });
	code = lazycuda_code_name(lazycuda_link_run(link)->code);
	lazycuda_load("nvJitLink");
	status = lazycuda_get_status("nvJitLink");
	printf("nvJitLink %d %d after %s\n", status->major, status->minor, code);
	lazycuda_load("cudart");
	status = lazycuda_get_status("cudart");
	printf("cudart %d %d\n", status->major, status->minor);
	lazycuda_link_free(link);
	return 0;
}
