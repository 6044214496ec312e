/* SPDX-License-Identifier: MIT */
/*
 * sandbox - run a command where no CUDA can be found
 *
 *     sandbox [--bare] [--bind SRC:DST] [--symlink TARGET:PATH] [--env NAME=VALUE] -- COMMAND...
 *
 * A "no CUDA" test on a machine that has CUDA passes for the wrong reason.  The
 * command sees /usr, /opt, /etc and /run without any CUDA folder and library
 * and without the loader's cache; it sees no module of the kernel.  Its
 * environment is empty but for PATH and --env.  Root's power to read unreadable
 * files is dropped, so that root meets what a user meets.  Nothing outside of
 * the sandbox changes.
 *
 * --bind and --symlink then put things in place; folders on the way to DST are
 * made if they lie inside one of those four.
 *
 * Before they do, the program itself tries to load every CUDA library and
 * exits 125 if one is still there.
 *
 * Where no namespace can be made or nothing mounted in it, the exit status is 77, and the tests do
 * the like by proot (lib/proot.py).  Without proot they say --bare: nothing is hidden, where this
 * machine has nothing to hide and nothing is to be put in place; else the exit status is 77, which
 * the tests report as skipped.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { SKIP = 77, BROKEN = 125 };

/* A folder that is everywhere and that no test needs: what the sandbox makes
 * lies in it. */
#define SCRATCH "/dev/shm"
#define MODULES "/sys/module"

/* The folders of the system: nothing that a command does to them lasts. */
static const char *const overlays[] = { "/usr", "/opt", "/etc", "/run", "/lib", "/lib64" };
#define OVERLAYS (sizeof overlays / sizeof *overlays)

#define FOLDERS "{/usr,/usr/local,}/lib{,64,/*-linux-gnu*}"
static const char *const hidden[] = {
	"/usr/local/cuda*", "/opt/cuda*", "/usr/lib/cuda*", "/run/opengl-driver*",
	FOLDERS "/lib{cudart,nvrtc,nvJitLink,nvidia-ml}[-._]*",
	FOLDERS "/libcuda.so*",
};

#define CACHE "/etc/ld.so.cache"
#define WANTED "that takes a namespace or proot (apt install proot; or docker run --cap-add SYS_ADMIN " \
	"--security-opt seccomp=unconfined --security-opt apparmor=unconfined)"

/* How the names of CUDA's libraries begin. */
static const char *const stems[] = {
	"libcudart", "libcuda.", "libnvrtc", "libnvJitLink", "libnvidia-ml", "libcublas", "libcudnn",
	"libcufft", "libcufile", "libcupti", "libcurand", "libcusolver", "libcusparse", "libcutensor",
	"libnccl", "libnpp", "libnvToolsExt", "libnvfatbin", "libnvjpeg", "libnvshmem", "libnvvm",
};

/* What --bind and --symlink ask for; `option` is the option's first letter. */
static struct place { char option; const char *from, *to; } places[64];
static size_t place_count;

static _Noreturn __attribute__((format(printf, 2, 3))) void fail(int status, const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	fputs("sandbox: ", stderr);
	vfprintf(stderr, format, args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(status);
}

/* Whether `path` is `folder` or lies in it. */
static int lies_in(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* Which overlay a path lies in, or -1. */
static int overlay_of(const char *path)
{
	for (size_t i = 0; i < OVERLAYS; i++)
		if (lies_in(path, overlays[i]) && path[strlen(overlays[i])])
			return (int)i;
	return -1;
}

static const char *const sonames[] = {
	"libcudart.so", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13",
	"libnvrtc.so", "libnvrtc.so.11.2", "libnvrtc.so.12", "libnvrtc.so.13",
	"libnvJitLink.so", "libnvJitLink.so.12", "libnvJitLink.so.13",
	"libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1",
};

static void make_folder(char *upper, const char *path);

/* Where a path lies in the upper layer of its overlay; makes the folders
 * above it.  Returns -1 if it lies in none. */
static int upper_path(char *upper, const char *path)
{
	char above[PATH_MAX];
	int overlay = overlay_of(path);

	if (overlay < 0)
		return -1;
	int start = snprintf(upper, PATH_MAX, SCRATCH "/%d/upper", overlay);
	int skip = (int)strlen(overlays[overlay]);
	snprintf(upper + start, PATH_MAX - (size_t)start, "%s", path + skip);
	for (char *slash = upper + start; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		snprintf(above, sizeof above, "%.*s", (int)(slash - upper) - start + skip, path);
		make_folder(upper, above);
		*slash = '/';
	}
	return 0;
}

/* In the upper layer a character device 0/0 hides what the lower layer has. */
static void white_out(const char *path)
{
	char upper[PATH_MAX];

	if (upper_path(upper, path) == 0 &&
	    mknod(upper, S_IFCHR, makedev(0, 0)) && errno != EEXIST)
		fail(SKIP, "cannot hide %s", path);
}

/* Makes the folder `upper`, which stands for `path`.  If that was hidden, what
 * lies in it stays hidden. */
static void make_folder(char *upper, const char *path)
{
	char inside[PATH_MAX];
	struct stat old;
	int was_hidden = lstat(upper, &old) == 0 && S_ISCHR(old.st_mode);
	struct dirent *entry;
	DIR *folder;

	if (was_hidden)
		unlink(upper);
	if (mkdir(upper, 0755) && errno != EEXIST)
		fail(BROKEN, "mkdir %s", upper);
	if (!was_hidden || lstat(path, &old) || !S_ISDIR(old.st_mode) || !(folder = opendir(path)))
		return;
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) < PATH_MAX)
			white_out(inside);
	closedir(folder);
}

/* Makes the mount point for a --bind, or the link for a --symlink. */
static void prepare(const struct place *place)
{
	char upper[PATH_MAX];
	struct stat source;

	if (upper_path(upper, place->to)) {
		if (access(place->to, F_OK))
			fail(BROKEN, "%s", place->to);
		return;
	}
	if (place->option == 's') {
		unlink(upper);	/* what hides it */
		if (symlink(place->from, upper))
			fail(BROKEN, "symlink %s", place->to);
		return;
	}
	if (stat(place->from, &source))
		fail(BROKEN, "%s", place->from);
	if (S_ISDIR(source.st_mode)) {
		make_folder(upper, place->to);
	} else {
		unlink(upper);
		int fd = open(upper, O_CREAT | O_WRONLY, 0644);
		if (fd < 0)
			fail(BROKEN, "create %s", place->to);
		close(fd);
	}
}

static void write_file(const char *path, const char *format, unsigned id)
{
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, format, id, id) < 0 || fclose(file))
		fail(SKIP, "cannot write %s", path);
}

static void enter_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (uid == 0) {
		if (unshare(CLONE_NEWNS))
			fail(SKIP, "no mount namespace");
	} else {
		if (unshare(CLONE_NEWNS | CLONE_NEWUSER))
			fail(SKIP, "no user namespace");
		write_file("/proc/self/setgroups", "deny", 0);
		write_file("/proc/self/uid_map", "%u %u 1", uid);
		write_file("/proc/self/gid_map", "%u %u 1", gid);
	}
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		fail(SKIP, "cannot make mounts private");
	if (mount("scratch", SCRATCH, "tmpfs", 0, "mode=755"))
		fail(SKIP, "no tmpfs on " SCRATCH);
}

static void make_layers(void)
{
	for (size_t i = 0; i < OVERLAYS; i++) {
		char path[64];
		static const char *const parts[] = { "", "/upper", "/work" };
		for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
			snprintf(path, sizeof path, SCRATCH "/%zu%s", i, parts[j]);
			if (mkdir(path, 0755))
				fail(BROKEN, "mkdir %s", path);
		}
	}
}

static void white_out_cuda(void)
{
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
		glob_t found;
		if (glob(hidden[i], GLOB_BRACE, NULL, &found) == 0)
			for (size_t j = 0; j < found.gl_pathc; j++)
				white_out(found.gl_pathv[j]);
		globfree(&found);
	}
	white_out(CACHE);
}

static void mount_overlays(void)
{
	for (size_t i = 0; i < OVERLAYS; i++) {
		char options[256];
		struct stat stat_link;
		if (lstat(overlays[i], &stat_link) || !S_ISDIR(stat_link.st_mode))
			continue;
		snprintf(options, sizeof options,
			 "lowerdir=%s,upperdir=" SCRATCH "/%zu/upper,workdir=" SCRATCH "/%zu/work%s",
			 overlays[i], i, i, geteuid() ? ",userxattr" : "");
		if (mount("overlay", overlays[i], "overlay", 0, options))
			fail(SKIP, "no overlay on %s", overlays[i]);
	}
	/* A driver's module tells its version there. */
	if (!access(MODULES, F_OK) && mount("none", MODULES, "tmpfs", 0, "mode=755"))
		fail(SKIP, "no tmpfs on " MODULES);
}

/* Whether a path was asked for, or leads to one that was. */
static int asked_for(const char *path)
{
	for (size_t i = 0; i < place_count; i++)
		if (!strncmp(path, places[i].to, strlen(path)))
			return 1;
	return 0;
}

static void assert_no_cuda(void)
{
	glob_t found;

	errno = 0;
	for (size_t i = 0; i < sizeof sonames / sizeof *sonames; i++)
		if (dlopen(sonames[i], RTLD_LAZY))
			fail(BROKEN, "%s can still be loaded", sonames[i]);
	if (glob("{/usr/local,/opt}/cuda*", GLOB_BRACE, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!asked_for(found.gl_pathv[i]))
				fail(BROKEN, "%s is still there", found.gl_pathv[i]);
	globfree(&found);
}

/* Root's program, which is started next, meets what a user meets. */
static void drop_powers(void)
{
	if (!geteuid() && (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) ||
			   prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH)))
		fail(SKIP, "cannot drop root's powers");
}

static void run_in_namespace(void)
{
	enter_namespace();
	make_layers();
	white_out_cuda();
	for (size_t j = 0; j < place_count; j++)
		prepare(&places[j]);
	mount_overlays();
	assert_no_cuda();
	for (size_t j = 0; j < place_count; j++)
		if (places[j].option == 'b' &&
		    mount(places[j].from, places[j].to, NULL, MS_BIND | MS_REC, NULL))
			fail(BROKEN, "cannot bind %s to %s", places[j].from, places[j].to);
	drop_powers();
}

static void refuse_what_would_be_hidden(const char *path)
{
	if (!access(path, F_OK))
		fail(SKIP, "%s is to be hidden, and " WANTED, path);
}

static void refuse_what_is_cached(void)
{
	static char text[16 << 20];
	FILE *file = fopen(CACHE, "r");
	size_t size = file ? fread(text, 1, sizeof text, file) : 0;

	errno = 0;
	for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
		if (memmem(text, size, stems[i], strlen(stems[i])))
			fail(SKIP, "%s* in " CACHE " is to be hidden, and " WANTED, stems[i]);
	if (file)
		fclose(file);
}

static void run_bare(void)
{
	if (place_count)
		fail(SKIP, "this test puts files at places of the system, and " WANTED);
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
		glob_t found;
		if (glob(hidden[i], GLOB_BRACE, NULL, &found) == 0)
			refuse_what_would_be_hidden(found.gl_pathv[0]);
		globfree(&found);
	}
	refuse_what_would_be_hidden(MODULES "/nvidia");
	refuse_what_is_cached();
	assert_no_cuda();
	drop_powers();
}

int main(int argc, char **argv)
{
	const int bare = argc > 1 && !strcmp(argv[1], "--bare");
	char *environment[64] = { "PATH=/usr/local/bin:/usr/bin:/bin" };
	size_t variables = 1;
	char folder[PATH_MAX];
	int i;

	for (i = 1 + bare; i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
		char *value = argv[i + 1];
		if (!strcmp(argv[i], "--env") && variables < 63) {
			environment[variables++] = value;
			continue;
		}
		char *colon = strchr(value, ':');
		if ((strcmp(argv[i], "--bind") && strcmp(argv[i], "--symlink")) ||
		    !colon || place_count == 64)
			break;
		*colon = 0;
		places[place_count++] = (struct place){ argv[i][2], value, colon + 1 };
	}
	errno = 0;
	if (i + 1 >= argc || strcmp(argv[i], "--"))
		fail(BROKEN, "usage: sandbox [--bare] [--bind SRC:DST] [--symlink TARGET:PATH] "
			     "[--env NAME=VALUE] -- COMMAND...");
	if (!getcwd(folder, sizeof folder))
		fail(BROKEN, "no current folder");

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	if (bare)
		run_bare();
	else
		run_in_namespace();
	if (chdir(folder))
		fail(BROKEN, "chdir %s", folder);
	execvpe(argv[i + 1], argv + i + 1, environment);
	fail(127, "%s", argv[i + 1]);
}
