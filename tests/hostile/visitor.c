/* SPDX-License-Identifier: MIT */
/*
 * visitor.c - makes the stubs and the dispatch module look for everything that they ever look for,
 * and says what came of it
 *
 *     visitor loaded LIBRARIES USER CODE...                    once USER is loaded, in $ELSEWHERE
 *     visitor plain|setuid|settled|capable LIBRARIES CODE...   with more rights than its caller
 *     visitor lowered LIBRARIES CODE...                        with another effective user than its own
 *
 * LIBRARIES has the libraries of the build, CODE are files with compressed code.  Started by root, it
 * gives itself those rights and starts again as a user who has none: as root's program with the
 * set-user-ID bit, which may take root for its only user then, or as one with a file capability.
 * With LINK in the environment it also makes an isolated link.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <lazycuda.h>
#include <lazycuda_link.h>

enum { NOBODY = 65534 };

/* Between these two lines on standard error nothing else happens. */
static void mark(const char *line)
{
	if (write(2, line, strlen(line)) < 0)
		exit(99);
}

static void *open_library(const char *folder, const char *name)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	handle = dlopen(path, RTLD_NOW);
	if (!handle) {
		puts(dlerror());
		exit(1);
	}
	return handle;
}

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function) {
		puts(dlerror());
		exit(1);
	}
	return function;
}

static const char *const states[] = { "unknown", "usable", "missing", "refused", "broken",
					"hidden" };

/* Code that cannot be unpacked is an error of its entry. */
static void inspect(void *link, const char *path)
{
	struct lazycuda_inspection *(*look)(const char *, unsigned) =
		(struct lazycuda_inspection *(*)(const char *, unsigned))
		find(link, "lazycuda_inspect_file");
	struct lazycuda_inspection *inspection = look(path, LAZYCUDA_INSPECT_PAYLOADS);
	const char *error = inspection ? inspection->error : "no memory";

	for (size_t i = 0; inspection && i < inspection->entry_count && !error; i++)
		error = inspection->entries[i]->error;
	printf("code %s\n", error ? error : "unpacked");
}

/* What the worker prints is in the log. */
static void link_isolated(void *library)
{
	static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
				  ".visible .entry kernel() { ret; }\n";
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = "sm_80", .flags = LAZYCUDA_LINK_ISOLATED };
	const struct lazycuda_environment environment = { .size = sizeof(environment), .nvjitlink = 12090 };
	const struct lazycuda_input input = {
		.size = sizeof(input), .name = "it", .bytes = ptx, .length = sizeof(ptx) };
	struct lazycuda_link *link = ((__typeof__(&lazycuda_link_new))
				      find(library, "lazycuda_link_new"))(&request, &environment);
	const struct lazycuda_result *result;

	((__typeof__(&lazycuda_link_add))find(library, "lazycuda_link_add"))(link, &input);
	result = ((__typeof__(&lazycuda_link_run))find(library, "lazycuda_link_run"))(link);
	printf("link %s\n", ((__typeof__(&lazycuda_code_name))
			     find(library, "lazycuda_code_name"))(result->code));
	mark(result->code ? result->error_log : result->info_log);
}

static void visit(const char *folder, char **code)
{
	void *stub = open_library(folder, "libcudart_stub.so"), *link;
	const struct lazycuda_status *status;
	struct lazycuda_driver driver;

	open_library(folder, "libnvrtc_stub.so");
	open_library(folder, "libnvJitLink_stub.so");
	link = open_library(folder, "liblazycuda_link.so");
	mark("begin\n");
	((int (*)(const char *))find(stub, "lazycuda_load"))(NULL);
	driver = ((struct lazycuda_driver (*)(void))find(stub, "lazycuda_get_driver"))();
	((struct lazycuda_environment (*)(void))find(link, "lazycuda_get_environment"))();
	while (*code)
		inspect(link, *code++);
	mark("end\n");
	if (getenv("LINK"))
		link_isolated(link);
	status = ((const struct lazycuda_status *(*)(const char *))
		  find(stub, "lazycuda_get_status"))("cudart");
	printf("cudart %s %s\n", states[status->state], status->path ? status->path : "-");
	printf("guard %s\n", ((const char *(*)(void))find(stub, "lazycuda_get_guard"))());
	printf("driver %d\n", driver.version);
	printf("branch %d\n", driver.branch);
}

static int skip(const char *why)
{
	printf("%s%s%s\n", why, errno ? ": " : "", errno ? strerror(errno) : "");
	return 77;
}

static int set_capability(const char *path)
{
	/* To bind to low ports: what a container's root has, too. */
	const struct vfs_cap_data capability = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1 << CAP_NET_BIND_SERVICE } },
	};

	return setxattr(path, "security.capability", &capability, XATTR_CAPS_SZ_2, 0);
}

static int start_again(char **argv)
{
	const char *why = "only root can give a program rights";

	if (chown(argv[0], 0, 0) || chmod(argv[0], argv[1][0] == 's' ? 04755 : 0755))
		return skip(why);
	if (!strcmp(argv[1], "capable") && set_capability(argv[0]))
		return skip("no file capability can be set here");
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return skip("cannot become another user");
	setenv("AGAIN", "1", 1);
	execv(argv[0], argv);
	return skip("cannot start again");
}

int main(int argc, char **argv)
{
	int secure = getauxval(AT_SECURE) != 0;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "loaded")) {
		if (!dlopen(argv[3], RTLD_NOW)) {
			puts(dlerror());
			return 1;
		}
		if (getenv("ELSEWHERE") && chdir(getenv("ELSEWHERE")))
			return 2;
		visit(argv[2], argv + 4);
		return 0;
	}
	if (!strcmp(argv[1], "lowered")) {
		if (seteuid(NOBODY))
			return skip("cannot become another user");
		visit(argv[2], argv + 3);
		return 0;
	}
	if (!getenv("AGAIN"))
		return start_again(argv);
	errno = 0;
	if (getuid() != NOBODY)
		return skip("this is not another user");
	if (!secure && strcmp(argv[1], "plain"))
		return skip("the kernel ignores the rights of files here");
	if (argv[1][0] == 's' && geteuid())
		return 1;
	if (!strcmp(argv[1], "settled") && setresuid(0, 0, 0))
		return 1;
	visit(argv[2], argv + 3);
	return 0;
}
