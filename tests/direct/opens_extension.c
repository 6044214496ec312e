/* SPDX-License-Identifier: MIT */
/* opens_extension FOLDER [PREFIX [GONE]]: opens an extension by a path relative to that folder, or
 * by that prefix, and uses it elsewhere, or in a folder that it makes and removes.  With NO_PROC in
 * its environment it first goes where there is no /proc, as in a chroot. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PR_GET_AUXV
# define PR_GET_AUXV 0x41555856
#endif

static int leave_proc(void)
{
	char values[1024];

	return prctl(PR_GET_AUXV, values, sizeof(values), 0, 0) < 0 ||
	       (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("none", "/proc", "tmpfs", 0, NULL);
}

static int go_away(const char *gone)
{
	char path[4096];

	if (!gone)
		return chdir("/");
	return mkdir(gone, 0700) || chdir(gone) || !getcwd(path, sizeof(path)) || rmdir(path);
}

int main(int count, char **arguments)
{
	int (*begin)(void);
	void *extension;
	char path[64];

	if (count < 2 || chdir(arguments[1]))
		return 2;
	if (getenv("NO_PROC") && leave_proc()) {
		printf("/proc: %s\n", strerror(errno));
		return 77;
	}
	snprintf(path, sizeof(path), "%s/libversions_extension.so", count > 2 ? arguments[2] : ".");
	extension = dlopen(path, RTLD_NOW);
	if (!extension) {
		printf("%s\n", dlerror());
		return 1;
	}
	begin = (int (*)(void))dlsym(extension, "begin");
	return go_away(count > 3 ? arguments[3] : NULL) || begin();
}
