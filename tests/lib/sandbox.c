/* SPDX-License-Identifier: MIT */
/*
 * sandbox - run a command where no CUDA can be found
 *
 *     sandbox [--bind SRC:DST] [--symlink TARGET:PATH] [--env NAME=VALUE] -- COMMAND...
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
 * There are two ways to make that, and the first that works here is taken:
 *
 *     namespace    overlays, in a mount namespace in which things are deleted
 *     supervised   a supervisor answers the command's system calls about paths
 *                  (sandbox_calls.h)
 *
 * LAZYCUDA_TEST_SANDBOX names one of them.  Where neither works, or the second
 * cannot do what the command asks for, the exit status is 77, which the tests
 * report as skipped.
 */
#define _GNU_SOURCE
#include "sandbox.h"
#include "sandbox_calls.h"

#include <dlfcn.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

/* Which of the two ways is taken, for those who test them. */
#define WAY "LAZYCUDA_TEST_SANDBOX"

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

/* Root meets what a user meets, now and in every program that it starts. */
static void drop_powers(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];
	const unsigned dropped = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;

	if (geteuid())
		return;
	if (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) ||
	    prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH) || syscall(SYS_capget, &header, sets))
		fail(SKIP, "cannot drop root's powers");
	sets[0].effective &= ~dropped;
	sets[0].permitted &= ~dropped;
	if (syscall(SYS_capset, &header, sets))
		fail(SKIP, "cannot drop root's powers");
}

/* Whether this user may make a namespace and mount in it: some systems allow
 * the one and not the other.  Tried in a process of its own. */
static int namespaces_work(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(SKIP);
		enter_namespace();
		make_layers();
		mount_overlays();
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* Whether to make a namespace, or to do without. */
static int takes_namespace(void)
{
	const char *way = getenv(WAY);

	if (!way || !*way)
		return namespaces_work();
	if (strcmp(way, "namespace") && strcmp(way, "supervised"))
		fail(BROKEN, WAY " is namespace or supervised, not %s", way);
	return !strcmp(way, "namespace");
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

static void run_supervised(void)
{
	prepare_view();
	drop_powers();
	start_supervised();
	assert_no_cuda();
	be_ready();
}

int main(int argc, char **argv)
{
	char *environment[64] = { "PATH=/usr/local/bin:/usr/bin:/bin" };
	size_t variables = 1;
	char folder[PATH_MAX];
	int i;

	for (i = 1; i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
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
		fail(BROKEN, "usage: sandbox [--bind SRC:DST] [--symlink TARGET:PATH] "
			     "[--env NAME=VALUE] -- COMMAND...");
	if (!getcwd(folder, sizeof folder))
		fail(BROKEN, "no current folder");

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	if (takes_namespace())
		run_in_namespace();
	else
		run_supervised();
	if (chdir(folder))
		fail(BROKEN, "chdir %s", folder);
	execvpe(argv[i + 1], argv + i + 1, environment);
	fail(127, "%s", argv[i + 1]);
}
