/* SPDX-License-Identifier: MIT */
/*
 * aside.c - opens files aside, and says whether the stub takes one for its own
 *
 *	aside FILE...
 */
#include <stdio.h>

#include <lazycuda.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%d\n", lazycuda_open_aside("nvJitLink", argv[i]) != NULL);
	printf("%d\n", lazycuda_open_aside("cufft", argv[1]) != NULL);
	lazycuda_load("nvJitLink");
	printf("%d %s\n", lazycuda_get_status("nvJitLink")->state,
	       lazycuda_get_status("nvJitLink")->path);
	return 0;
}
