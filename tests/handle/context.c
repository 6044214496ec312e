/* SPDX-License-Identifier: MIT */
/* context.c - whose context the driver links in: `context current|none FILE` */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <lazycuda_link.h>

#include "fake.h"

int main(int argc, char **argv)
{
	const struct lazycuda_request request = { .size = sizeof(request), .arch = "sm_80" };
	const struct lazycuda_environment environment = { .size = sizeof(environment),
							  .driver = 13000 };
	struct lazycuda_input input = { .size = sizeof(input) };
	struct lazycuda_link *link = lazycuda_link_new(&request, &environment);
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int *retained = dlsym(driver, "fake_retained"), *all_retained;
	int *pushed = dlsym(driver, "fake_pushed"), *all_pushed;

	all_retained = dlsym(driver, "fake_all_retained");
	all_pushed = dlsym(driver, "fake_all_pushed");
	*(int *)dlsym(driver, "fake_current") = argc > 1 && !strcmp(argv[1], "current");
	input.path = argv[2];
	lazycuda_link_add(link, &input);
	printf("%s\n", lazycuda_code_name(lazycuda_link_run(link)->code));
	printf("retained %d %d\n", *all_retained, *retained);
	printf("pushed %d %d\n", *all_pushed, *pushed);
	lazycuda_link_free(link);
	return 0;
}
