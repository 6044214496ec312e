/* SPDX-License-Identifier: MIT */
/*
 * secure.c - load a stub: `secure STUB plain`, or as a set-user-ID program does
 *
 * The kernel runs a program in secure mode when its real and effective user
 * differ.  As root, this one makes itself set-user-ID for another user and
 * starts itself again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lazycuda.h>

enum { OTHER = 65534 };

static int skip(const char *why)
{
	printf("%s: %s\n", why, strerror(errno));
	return 77;
}

int main(int argc, char **argv)
{
	int secure = argc > 2 && !strcmp(argv[2], "secure");

	if (secure && !getauxval(AT_SECURE) && argc < 4) {
		if (chown(argv[0], OTHER, OTHER) || chmod(argv[0], 04755))
			return skip("only root can make a set-user-ID program");
		execl(argv[0], argv[0], argv[1], "secure", "again", NULL);
		return skip("cannot start again");
	}
	if (secure && !getauxval(AT_SECURE))
		return skip("the kernel ignores set-user-ID here");
	void *stub = dlopen(argv[1], RTLD_NOW);
	if (!stub) {
		printf("%s\n", dlerror());
		return 1;
	}
	int (*load)(const char *) = (int (*)(const char *))dlsym(stub, "lazycuda_load");
	const struct lazycuda_status *(*status)(const char *) =
		(const struct lazycuda_status *(*)(const char *))dlsym(stub, "lazycuda_get_status");
	load(NULL);
	switch (status("cudart")->state) {
	case LAZYCUDA_STATE_USABLE:
		puts("usable");
		break;
	case LAZYCUDA_STATE_MISSING:
		puts("missing");
		break;
	default:
		puts(status("cudart")->reason);
	}
	return 0;
}
