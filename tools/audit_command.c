/* SPDX-License-Identifier: MIT */
/* audit_command.c - `lazycuda audit`: on which CUDA versions a binary runs through the stubs */
#include "commands.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../stubs/base/count.h"
#include "../stubs/base/cuda_version.h"
#include "../stubs/base/printable.h"
#include "../stubs/base/regular.h"
#include "as_is.h"
#include "command_line.h"
#include "directory.h"
#include "progress.h"
#include "audit_report.h"
#include "ready.h"
#include "say.h"
#include "zip.h"

static const char usage[] =
"usage: lazycuda audit [OPTION...] FILE...\n"
"\n"
"Says on which CUDA versions a binary runs as it lies there, and on which once it is\n"
"retargeted: how many of its imports are direct, renamed, adapted, refused or absent on each.  FILE\n"
"is an ELF file, a wheel (.whl), or a folder to search for ELF files and wheels;\n"
"symbolic links in a folder are not followed.  No FILE is run.\n"
"\n";

static const char end[] =
"\n"
"A file runs on a version if none of its imports is refused (the name is there\n"
"with another interface that no adaptor bridges) or absent (it is not there), and\n"
"each real library of CUDA that it still needs or may open is of that CUDA.  A\n"
"library that is neither CUDA's nor the system's is named and not judged.\n"
"libcuda.so.1 and libnvidia-ml.so.1 come with the driver, whatever the CUDA: the\n"
"last line names the oldest driver that has all that is imported from them.  If the\n"
"majors of a STUB's library are its own, a file runs with any major that has all of\n"
"its imports, whatever the CUDA.\n"
"Exit status: 0 all requirements are met, 1 one is not, 2 wrong usage, or something\n"
"could not be read; what could be read is reported all the same.\n";

struct requirement {
	int major, minor;	/* minor -1: any version of the major; major 0: no CUDA */
};

struct audit {
	struct report report;
	struct tables tables;
	struct requirement required[32];
	size_t required_count;
	const char *stubs[MAX_TABLES];	/* paths given with --stub */
	size_t stub_count;
	bool all_versions;
	struct neighbours *beside;	/* what is beside the files that are read now; or NULL */
	bool foreign;		/* there was a wheel of another system */
	bool nothing;		/* there was no file to judge */
};

/* Reports an allocation failure: the output is incomplete then. */
static void note_memory(struct audit *audit, const struct lc_arena *arena)
{
	if (!arena->failed)
		return;
	progress_hide();
	complain("audit", "memory ran out");
	audit->report.errors++;
}

/* ---- files ---- */

/* `member`: its name in the wheel; or NULL. */
static void audit_bytes(struct audit *audit, const char *file, const char *wheel,
			const char *member, const void *bytes, size_t size)
{
	struct lc_arena arena = { .failed = false };
	struct findings findings;
	struct code code = { .error = NULL };

	findings_read(&arena, &audit->tables, bytes, size, &findings);
	findings.beside = audit->beside;
	findings.searcher.installed = member ? path_in_site(member) : NULL;
	as_is_settle(&audit->tables, &findings);
	if (audit->report.wish.any && !findings.error)
		code_read(&arena, bytes, size, &code);
	progress_hide();
	if (findings.error)
		report_error(&audit->report, file, wheel, findings.error);
	else
		report_file(&audit->report, &arena, file, wheel, &findings, &code);
	note_memory(audit, &arena);
	lc_arena_free(&arena);
}

struct wheel_walk {
	struct audit *audit;
	const char *wheel;
};

static void audit_member(const struct zip_member *member, void *data)
{
	const struct wheel_walk *walk = data;
	struct lc_arena arena = { .failed = false };
	const char *file = lc_format(&arena, "%s/%s", walk->wheel, member->name);

	progress_hide();
	if (member->error)
		report_error(&walk->audit->report, file, walk->wheel, member->error);
	else
		audit_bytes(walk->audit, file, walk->wheel, member->name, member->bytes,
			    member->size);
	note_memory(walk->audit, &arena);
	lc_arena_free(&arena);
}

static bool is_wheel(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && !strcmp(path + length - 4, ".whl");
}

static void audit_mapped(struct audit *audit, const char *path, bool asked, const void *bytes,
			 size_t size)
{
	struct neighbours *before = audit->beside, all;
	struct wheel_walk walk = { audit, path };
	struct lc_arena arena = { .failed = false };
	const char *why;

	if (is_wheel(path) || (asked && zip_is(bytes, size))) {
		why = directory_check(&arena, bytes, size);
		if (why)
			report_error(&audit->report, path, path, why);
		note_memory(audit, &arena);
		lc_arena_free(&arena);
		if (why)
			return;
		progress_begin("reading", lc_basename(path), size);
		neighbours_of_wheel(&all, path, bytes, size);
		audit->beside = &all;
		why = all.wrong ? all.wrong : all.foreign ? NULL :
		      zip_read(bytes, size, NULL, audit_member, &walk);
		audit->beside = before;
		progress_hide();
		note_memory(audit, &all.arena);
		neighbours_free(&all);
		if (why)
			report_error(&audit->report, path, path, why);
		else if (all.foreign)
			complain("audit", "%s is not for Linux, by its tags: not judged", path);
		audit->foreign |= all.foreign;
		return;
	}
	if (asked || (size >= 4 && !memcmp(bytes, "\177ELF", 4)))
		audit_bytes(audit, path, NULL, NULL, bytes, size);
}

/* What is said of a file that is cut short while it is mapped: nothing else can be done then. */
static char cut_short[PATH_MAX + 64];

static void stop(int number)
{
	ssize_t written = write(STDERR_FILENO, cut_short, strlen(cut_short));

	(void)number;
	(void)written;
	_exit(2);
}

/* `asked`: the command line names this file, so it is an error if the file is empty, or
 * neither ELF nor a wheel. */
static void audit_file(struct audit *audit, const char *path, bool asked)
{
	struct stat st;
	int fd = lc_open_regular(path, &st);
	const char *why;
	void *bytes;
	char magic[4], text[128];

	/* A wheel that cannot be read is no less one. */
	asked |= is_wheel(path);
	if (fd < 0) {
		why = lc_why_not_opened(errno);
		snprintf(text, sizeof(text), "cannot be opened: %s", strerror(errno));
		report_error(&audit->report, path, NULL, why ? why : text);
		return;
	}
	if (!st.st_size) {
		if (asked)
			report_error(&audit->report, path, NULL, "is empty");
	} else if (asked || (pread(fd, magic, 4, 0) == 4 && (!memcmp(magic, "\177ELF", 4) ||
							     !memcmp(magic, "PK", 2)))) {
		snprintf(cut_short, sizeof(cut_short) - 1, "lazycuda audit: %s: was changed while it was"
			 " read", path);
		lc_make_printable(cut_short);
		strcat(cut_short, "\n");
		signal(SIGBUS, stop);
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes == MAP_FAILED) {
			report_error(&audit->report, path, NULL, "cannot be read");
		} else {
			audit_mapped(audit, path, asked, bytes, (size_t)st.st_size);
			munmap(bytes, (size_t)st.st_size);
		}
	}
	close(fd);
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
	return strcmp((*one)->fts_name, (*other)->fts_name);
}

static void audit_folder(struct audit *audit, const char *path)
{
	char *paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	struct neighbours all;
	FTSENT *entry;

	neighbours_of_folder(&all, path);
	audit->beside = &all;
	while (tree && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F)
			audit_file(audit, entry->fts_path, false);
		else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			report_error(&audit->report, entry->fts_path, NULL, "cannot be read");
	}
	if (tree)
		fts_close(tree);
	else
		report_error(&audit->report, path, NULL, "cannot be read");
	audit->beside = NULL;
	note_memory(audit, &all.arena);
	neighbours_free(&all);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* ---- requirements ---- */

/* Whether one of the versions is wanted: of all, or of those that are `on`. */
static bool has_wanted(const struct tables *tables, struct requirement wanted, const bool *on)
{
	for (size_t i = 0; i < tables->toolkit_count; i++)
		if ((!on || on[i]) && LC_MAJOR(tables->toolkits[i]) == wanted.major &&
		    (wanted.minor < 0 || LC_MINOR(tables->toolkits[i]) == wanted.minor))
			return true;
	return false;
}

/* Reads a number; one that no version has is as good as any larger one. */
static int small_number(const char *text, char **end)
{
	unsigned long number = strtoul(text, end, 10);

	return number < 1000 ? (int)number : 1000;
}

/* Reads "12", "12.4" or "none"; false if it is malformed or names an unknown version. */
static bool read_required(const struct audit *audit, const char *text, char **end,
			  struct requirement *wanted)
{
	*wanted = (struct requirement){ .minor = -1 };
	if (!strncmp(text, "none", 4)) {
		*end = (char *)text + 4;
		return true;
	}
	if (*text < '0' || *text > '9')
		return false;
	wanted->major = small_number(text, end);
	if (**end == '.' && (*end)[1] >= '0' && (*end)[1] <= '9')
		wanted->minor = small_number(*end + 1, end);
	return has_wanted(&audit->tables, *wanted, NULL);
}

/* Reads "none,11,12.4"; false if one of them is not as it should be. */
static bool parse_required(void *data, const char *list)
{
	struct audit *audit = data;

	while (*list) {
		struct requirement wanted;
		char *end;

		if (!read_required(audit, list, &end, &wanted) || (*end && *end != ',') ||
		    audit->required_count == LC_COUNT(audit->required))
			return false;
		audit->required[audit->required_count++] = wanted;
		list = *end ? end + 1 : end;
	}
	return audit->required_count;
}

static bool is_met(const struct audit *audit, struct requirement wanted)
{
	return wanted.major ? has_wanted(&audit->tables, wanted, audit->report.runs) :
			      audit->report.without_cuda;
}

static bool check_required(const struct audit *audit)
{
	bool met = true;

	if (audit->required_count && audit->report.files && report_nothing(&audit->report)) {
		complain("audit", "there is nothing in it that could be judged");
		return false;
	}
	for (size_t i = 0; i < audit->required_count; i++) {
		struct requirement wanted = audit->required[i];

		if (is_met(audit, wanted))
			continue;
		met = false;
		if (!wanted.major)
			complain("audit", "not all of it can be loaded where there is no CUDA");
		else if (wanted.minor < 0)
			complain("audit", "there is no version of CUDA %d that all of it runs on", wanted.major);
		else
			complain("audit", "not all of it runs on CUDA %d.%d", wanted.major, wanted.minor);
	}
	return met;
}

/* ---- command line ---- */

static bool set_driver(void *data, const char *text)
{
	struct audit *audit = data;
	const struct tables *tables = &audit->tables;
	char version[16];

	for (size_t i = 0; i < tables->toolkit_count; i++) {
		snprintf(version, sizeof(version), "%d.%d", LC_MAJOR(tables->toolkits[i]),
			 LC_MINOR(tables->toolkits[i]));
		if (!strcmp(text, version)) {
			audit->tables.driver = i;
			audit->report.wish.driver = lc_number_of_version(tables->toolkits[i]);
			return true;
		}
	}
	return false;
}

static bool set_archs(void *data, const char *text)
{
	return code_wish_read(&((struct audit *)data)->report.wish, text);
}

/* Returns true if every file with device code has some for every GPU that was given. */
static bool serves_archs(const struct audit *audit)
{
	for (size_t i = 0; i < audit->report.wish.target_count; i++)
		if (audit->report.lacking[i])
			return false;
	return true;
}

static bool note_stub(void *data, const char *path)
{
	struct audit *audit = data;

	if (audit->stub_count == MAX_TABLES - LIBRARIES)
		return false;
	audit->stubs[audit->stub_count++] = path;
	return true;
}

static bool add_stubs(struct audit *audit)
{
	for (size_t i = 0; i < audit->stub_count; i++) {
		const struct lc_peer *peer = own_stub_open("audit", audit->stubs[i]);
		const char *why = peer ? tables_add(&audit->tables, peer) : NULL;

		if (why)
			complain("audit", "%s: %s", audit->stubs[i], why);
		if (!peer || why)
			return false;
	}
	return true;
}

static const struct option options[] = {
	{ "--json", NULL, "print JSON", .at = offsetof(struct audit, report.json) },
	{ "--all-versions", NULL, "every version, not only the newest of each major",
	  .at = offsetof(struct audit, all_versions) },
	{ "--require", "LIST", "exit with 1 unless every file runs on these, such as 11,12,13. A"
	  " major is satisfied by any one of its versions; 12.4 means that version. The last line"
	  " names the first that will do. none: it can be loaded where there is neither CUDA nor"
	  " a driver",
	  .take = parse_required,
	  .wants = "majors or versions of CUDA that lazycuda knows, such as 11,12.4,13" },
	{ "--allow-by-name", NULL, "libraries that a file may open by a name that tells the CUDA,"
	  " such as libcublas.so.12, do not count", .at = offsetof(struct audit, report.by_name) },
	{ "--driver", "V", "assume a driver for that CUDA, such as 12.2: functions that came"
	  " later are absent, CUDA of later majors does not run, and it does not take code that is too new"
	  " for it; default: the"
	  " newest driver that is known, and any for code",
	  .take = set_driver,
	  .wants = "a version of CUDA that lazycuda knows, such as 12.2" },
	{ "--device-code", NULL, "also what device code the files hold, by kind and architecture,"
	  " what made it, the oldest driver that takes it, and fatbins that hold LTO-IR beside"
	  " other code; it is unpacked for that", .at = offsetof(struct audit, report.wish.any) },
	{ "--arch", "LIST", "what --device-code says, and for GPUs such as sm_90,sm_120 what"
	  " serves them and what to do; exit with 1 if a file with device code has none that a"
	  " driver loads there",
	  .take = set_archs, .wants = "at most 32 GPUs, such as sm_90,sm_120" },
	{ "--stub", "STUB", "also judge imports of the library of this stub, which `lazycuda"
	  " stub` made and which is loaded; may be given again",
	  .take = note_stub,
	  .wants = "no more stubs: an audit has room for 64, lazycuda's own included" },
	{ .name = NULL },
};

static const struct command command = {
	.name = "audit", .usage = usage, .options = options, .end = end,
};

/* Selects the newest version of each major, or all versions. */
static void choose_targets(struct audit *audit)
{
	const struct tables *tables = &audit->tables;

	for (size_t i = 0; i < tables->toolkit_count; i++)
		audit->report.targets[i] = audit->all_versions || i + 1 == tables->toolkit_count ||
			LC_MAJOR(tables->toolkits[i]) != LC_MAJOR(tables->toolkits[i + 1]);
}

static void audit_all(struct audit *audit, char **paths, size_t count)
{
	struct lc_arena arena = { .failed = false };

	choose_targets(audit);
	for (size_t i = 0; i < count; i++)
		audit->report.quiet |= count > 1 || is_folder(paths[i]) || is_wheel(paths[i]);
	report_begin(&audit->report);
	for (size_t i = 0; i < count; i++) {
		if (is_folder(paths[i]))
			audit_folder(audit, paths[i]);
		else
			audit_file(audit, paths[i], true);
	}
	report_end(&audit->report, &arena);
	if (!audit->report.files && !audit->report.errors) {
		if (!audit->foreign)
			complain("audit", "there is no ELF file in %s%s", paths[0],
				 count > 1 ? " or the others" : "");
		audit->nothing = true;
	}
	note_memory(audit, &arena);
	lc_arena_free(&arena);
}

static int audit_with(struct audit *audit, int argc, char **argv)
{
	int status, count = options_read(&command, audit, argc, argv, NULL, &status);
	bool met;

	if (count < 0)
		return status;
	if (!count)
		return options_wrong(&command, "no file is given", "");
	if (!add_stubs(audit))
		return 2;
	progress_wanted(!audit->report.json);
	audit_all(audit, argv, (size_t)count);
	met = check_required(audit);
	met = serves_archs(audit) && met && !audit->nothing;	/* it reports, whatever was met before */
	return audit->report.errors ? 2 : !met;
}

int audit_main(int argc, char **argv)
{
	struct audit audit = { .report.tables = &audit.tables };
	const char *why = tables_read(&audit.tables);
	int status = 2;

	if (why)
		complain("audit", "%s", why);
	else
		status = audit_with(&audit, argc, argv);
	tables_free(&audit.tables);
	return status;
}
