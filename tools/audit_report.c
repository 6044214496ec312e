/* SPDX-License-Identifier: MIT */
/* audit_report.c - prints what an audit found in each file, and in all files together */
#include "audit_report.h"

#include <stdio.h>
#include <string.h>

#include "as_is.h"
#include "json.h"
#include "say.h"
#include "tally.h"

enum {
	COLUMNS = 100,
	IN_A_VERDICT = 3	/* names of a kind; the lines above it have all */
};

/* ---- the verdict ---- */

/* By version. */
struct fate {
	bool served[AUDIT_TOOLKITS];	/* its imports are served */
	bool retargeted[AUDIT_TOOLKITS];	/* it runs once it is retargeted */
	bool now[AUDIT_TOOLKITS];		/* it runs as it lies there */
};

/* What runs_text() says, of versions on which the file runs as it lies there, and else once
 * it is retargeted. */
static const char *as_is_text(struct report *report, struct lc_arena *arena,
			      const struct findings *findings, const struct fate *fate)
{
	const struct tables *tables = report->tables;
	const char *text = runs_text(arena, tables, fate->now), *later, *why;

	if (!memcmp(fate->now, fate->served, sizeof(fate->now)))
		return text;
	why = as_is_reasons(arena, tables, findings, report->by_name);
	text = lc_format(arena, "%s: %s", *text ? text : "runs on none", why);
	if (!memcmp(fate->now, fate->retargeted, sizeof(fate->now)))
		return text;
	later = runs_text(arena, tables, fate->retargeted);
	return lc_format(arena, "%s; %s %s", text, later,
			 as_is_without_stub(findings) ? "with it" : "once retargeted");
}

static const char *verdict_text(struct report *report, struct lc_arena *arena,
				const struct findings *findings, const struct fate *fate)
{
	const struct tables *tables = report->tables;
	const bool *on = fate->served;
	const char *text = as_is_text(report, arena, findings, fate), *why = "";
	struct tally newest;
	size_t driver;

	count(arena, report->tables, findings, tables->toolkit_count - 1, &newest);
	if (newest.undriven.count)
		return lc_format(arena, "runs on none: a driver of CUDA %s does not have %s",
				 format_version(arena, tables->toolkits[tables->driver]),
				 list_names(arena, &newest.undriven));
	driver_needed(report->tables, findings, &driver);
	for (size_t first = 0, end; first < tables->toolkit_count; first = end) {
		struct tally tally;
		bool any = false;

		end = end_of_major(tables, first);
		for (size_t i = first; i < end; i++)
			any |= on[i];
		if (any)
			continue;
		count(arena, report->tables, findings, end - 1, &tally);
		why = lc_format(arena, "%s; on %d: %s", why, LC_MAJOR(tables->toolkits[first]),
				tally_runs(&tally) ? "it needs a driver of that CUDA" :
				problems(arena, &tally, IN_A_VERDICT));
	}
	return lc_format(arena, "%s%s%s", *text ? text : "runs on none",
			 *text ? driver_text(arena, tables, driver) : "", why);
}

/* ---- notes ---- */

static const char *names_text(struct lc_arena *arena, const struct found_import *import)
{
	return lc_format(arena, import->name_count == 1 ? "%zu name" : "%zu names", import->name_count);
}

static const char *import_note(struct lc_arena *arena, const struct findings *findings,
			       const struct found_import *import)
{
	const struct lc_library *library = import->table->library;

	if (import->name_count && !import->versioned && !import->needed)
		return lc_format(arena, "%s of %s imported without a version and without"
				 " needing any library, such as %s: %s", names_text(arena, import),
				 library->name, import->names[0].name, import->unmet ?
				 "it is loaded only after something that has them for all to see" :
				 "whatever is in the process answers");
	if (import->name_count && !import->versioned && lc_has_nodes(library) &&
	    !as_is_beside(findings, import->needed))
		return lc_format(arena, "%s of %s imported without a version, such as %s:"
				 " the stub's newest interface, and none where majors differ; link"
				 " against an import library", names_text(arena, import), library->name,
				 import->names[0].name);
	if (import->inside)
		return NULL;
	if (!import->needed)
		return lc_format(arena, "it needs versions of %s, but not the library:"
				 " something else has to load it first", import->file);
	if (import->weak)
		return lc_format(arena, "asks whether %s is there, and the answer is always yes: the stub"
				 " has it, and if the library lacks it, a call returns the error for that", import->weak);
	if (import->through == NEEDS_RENAMED)
		return lc_format(arena, "%s is %s under another name, a copy that came with the file",
				 import->needed, library->name);
	return NULL;
}

static const char *through(const struct found_import *import)
{
	return import->inside ? "inside" : !import->needed ? NULL : import->through == NEEDS_STUB ? "stub" :
	       import->through == NEEDS_RENAMED ? "renamed" : "real";
}

static bool same_copy(const struct found_stub *one, const struct found_stub *other)
{
	return one->cuda == other->cuda && !strcmp(one->release, other->release);
}

/* "has stubs of cudart and nvrtc of lazycuda 0.1.0 inside, compiled for 12", for those like this one; ""
 * if an earlier one was. */
static const char *inside_text(struct lc_arena *arena, const struct findings *findings, size_t first)
{
	const struct found_stub *stub = &findings->stubs[first];
	const char *text = "", *last = stub->library;

	for (size_t i = 0; i < first; i++)
		if (same_copy(&findings->stubs[i], stub))
			return "";
	for (size_t i = first + 1; i < findings->stub_count; i++) {
		if (!same_copy(&findings->stubs[i], stub))
			continue;
		text = lc_format(arena, "%s%s%s", text, *text ? ", " : "", last);
		last = findings->stubs[i].library;
	}
	return lc_format(arena, "has %s of %s%s%s of lazycuda %s inside, compiled for %d",
			 *text ? "stubs" : "a stub", text, *text ? " and " : "", last, stub->release, stub->cuda);
}

/* Whether ld.so binds any import. */
static bool binds_any(const struct findings *findings)
{
	for (size_t i = 0; i < findings->import_count; i++)
		if (findings->imports[i].name_count && !findings->imports[i].inside && is_judged(&findings->imports[i]))
			return true;
	return false;
}

static bool has_whole(const struct findings *findings)
{
	for (size_t i = 0; i < findings->import_count; i++)
		if (findings->imports[i].whole)
			return true;
	return false;
}

/* ---- JSON ---- */

/* For a library whose majors are its own, lists those that serve the file on any CUDA, and
 * since which version. */
static void json_majors(struct lc_arena *arena, const struct findings *findings, struct table *table)
{
	const struct lc_library *library = table->library;

	if (!library->own_majors) {
		json_null("served_by");
		json_null("served_since");
		return;
	}
	json_open("served_by", '[');
	for (size_t row = library->major_count; row--;)
		if (serves_from(findings, table, row))
			json_integer(NULL, library->majors[row].major);
	json_close(']');
	json_open("served_since", '[');
	for (size_t row = library->major_count; row--;) {
		lc_version from = serves_from(findings, table, row);

		if (from)
			json_text(NULL, format_own(arena, table, from));
	}
	json_close(']');
}

static void json_imports(struct lc_arena *arena, const struct findings *findings)
{
	json_open("imports", '[');
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];

		json_open(NULL, '{');
		json_text("library", import->table->library->name);
		json_text("needed", import->needed);
		json_text("version_need", import->versioned ? import->file : NULL);
		json_text("through", through(import));
		json_known("compiled_for", import->major, import->major);
		json_integer("names", (int)import->name_count);
		json_boolean("versioned", import->versioned || !import->name_count);
		json_boolean("judged", is_judged(import));
		json_majors(arena, findings, import->table);
		json_close('}');
	}
	json_close(']');
}

static void json_inside(const struct findings *findings)
{
	json_open("inside", '[');
	for (size_t i = 0; i < findings->stub_count; i++) {
		json_open(NULL, '{');
		json_text("library", findings->stubs[i].library);
		json_text("lazycuda", findings->stubs[i].release);
		json_integer("compiled_for", findings->stubs[i].cuda);
		json_close('}');
	}
	json_close(']');
}

static void json_target(struct report *report, struct lc_arena *arena,
			const struct findings *findings, size_t toolkit)
{
	struct tally tally;

	count(arena, report->tables, findings, toolkit, &tally);
	json_open(format_version(arena, report->tables->toolkits[toolkit]), '{');
	json_integer("direct", (int)tally.direct);
	json_integer("renamed", (int)tally.renamed);
	json_integer("adapted", (int)tally.adapted);
	json_words("refused", tally.refused.list, tally.refused.count);
	json_open("absent", '[');
	for (size_t i = 0; i < tally.absent.count; i++)
		json_text(NULL, tally.absent.list[i]);
	for (size_t i = 0; i < tally.undriven.count; i++)
		json_text(NULL, tally.undriven.list[i]);
	json_close(']');
	json_close('}');
}

static void json_driver(const struct report *report, struct lc_arena *arena, bool any,
			size_t needed)
{
	json_text("driver", any ? format_version(arena, report->tables->toolkits[needed]) : NULL);
}

static void json_runs(const struct report *report, struct lc_arena *arena, const char *key,
		      const bool *on)
{
	json_open(key, '[');
	for (size_t i = 0; i < report->tables->toolkit_count; i++)
		if (on[i])
			json_text(NULL, format_version(arena, report->tables->toolkits[i]));
	json_close(']');
}

static void json_file(struct report *report, struct lc_arena *arena, const char *file,
		      const char *wheel, const struct findings *findings, const struct code *code,
		      const struct fate *fate, const char *verdict)
{
	const struct lc_strings unjudged = as_is_unjudged(arena, findings);
	size_t driver;
	bool drives = driver_needed(report->tables, findings, &driver);

	json_open(NULL, '{');
	json_text("file", file);
	json_text("wheel", wheel);
	json_null("error");
	json_text("is", !findings->itself ? NULL : findings->stub ? "stub" : "real");
	json_boolean("static", findings->constants.has_static);
	json_boolean("lazy", findings->lazy);
	json_words("dlopens", findings->constants.opens.list, findings->constants.opens.count);
	json_imports(arena, findings);
	json_inside(findings);
	json_open("targets", '{');
	for (size_t i = 0; i < report->tables->toolkit_count; i++)
		if (report->targets[i])
			json_target(report, arena, findings, i);
	json_close('}');
	json_runs(report, arena, "runs_on", fate->now);
	json_runs(report, arena, "once_retargeted", fate->retargeted);
	json_open("without_cuda", '{');
	json_boolean("runs_on", as_is_without_cuda(findings));
	json_boolean("once_retargeted", as_is_apart(findings) ? as_is_without_cuda(findings) :
		     as_is_for_glibc(findings) && as_is_without_stubless(findings));
	json_close('}');
	json_words("no_stub", findings->stubless.list, findings->stubless.count);
	json_words("not_judged", unjudged.list, unjudged.count);
	json_driver(report, arena, drives, driver);
	if (report->wish.any)
		code_json(arena, code, &report->wish);
	json_text("verdict", verdict);
	json_close('}');
}

/* ---- text ---- */

/* Text may contain file names, and these may contain terminal escape sequences. */
static void line(struct lc_arena *arena, const char *label, const char *text)
{
	printf("  %-10s %s\n", label, lc_printable(arena, text));
}

/* A line whose text may be long: it goes on below, between words. */
static void lines(struct lc_arena *arena, const char *label, const char *text)
{
	const char *left = lc_printable(arena, text);
	size_t column = (size_t)printf("  %-10s", label);

	while (*left) {
		size_t length = strcspn(left, " ");

		if (column + 1 + length > COLUMNS)
			column = (size_t)printf("\n  %-10s", "") - 1;
		column += (size_t)printf(" %.*s", (int)length, left);
		left += length + (left[length] == ' ');
	}
	putchar('\n');
}

/* "served by its major 8, 9 from 9.3 on" */
static const char *majors_text(struct lc_arena *arena, const struct findings *findings,
			       struct table *table)
{
	const struct lc_library *library = table->library;
	const char *text = "";

	for (size_t row = library->major_count; row--;) {
		lc_version from = serves_from(findings, table, row);

		if (!from)
			continue;
		text = lc_format(arena, "%s%s %d", text, *text ? "," : "served by its major",
				 library->majors[row].major);
		if (from > library->majors[row].oldest)
			text = lc_format(arena, "%s from %s on", text, format_own(arena, table, from));
	}
	return *text ? text : "none of its majors serves all";
}

static void print_import(struct lc_arena *arena, const struct findings *findings,
			 const struct found_import *import)
{
	const struct lc_library *library = import->table->library;
	const char *text = names_text(arena, import);

	if (import->major)
		text = lc_format(arena, "%s of %s %d", text, lc_major_word(library), import->major);
	if (import->needed)
		text = lc_format(arena, "%s through %s%s", text, import->needed,
				 import->through == NEEDS_STUB ? "" :
				 as_is_beside(findings, import->needed) ? ", which comes with it" :
				 ", not yet the stub");
	if (import->inside)
		text = lc_format(arena, "%s%s in a stub inside", import->whole ? "all " : "", text);
	if (library->own_majors && import->name_count && is_judged(import))
		text = lc_format(arena, "%s; %s", text, majors_text(arena, findings, import->table));
	line(arena, library->name, text);
}

static void print_target(struct report *report, struct lc_arena *arena,
			 const struct findings *findings, size_t toolkit)
{
	struct tally tally;
	const char *text;

	count(arena, report->tables, findings, toolkit, &tally);
	text = lc_format(arena, "%zu direct, %zu renamed, %zu adapted", tally.direct,
			 tally.renamed, tally.adapted);
	if (!tally_runs(&tally))
		text = lc_format(arena, "%s; %s", text, problems(arena, &tally, SIZE_MAX - 1));
	lines(arena, lc_format(arena, "on %s",
			       format_version(arena, report->tables->toolkits[toolkit])), text);
}

static void print_device_code(const struct report *report, struct lc_arena *arena,
		       const struct code *code)
{
	char arch[LK_ARCH_TEXT];

	if (code->error)
		line(arena, "device", code->error);
	if (!code->group_count)
		return;
	line(arena, "device", code_text(arena, code));
	for (size_t i = 0; i < report->wish.target_count; i++) {
		const struct lk_arch *target = &report->wish.targets[i];
		struct code_answer answer = code_serves(code, &report->wish, target);

		line(arena, lc_format(arena, "for %s", lk_arch_text(target, arch)),
		     code_advice(arena, &report->wish, target, &answer));
	}
	if (code->mixed)
		line(arena, "note", code_mixed_text(arena, code));
}

static void print_verdict(struct lc_arena *arena, const char *head, const char *verdict)
{
	static const char nowhere[] = "runs on none";

	fputs(head, stdout);
	say_verdict(lc_printable(arena, verdict), strncmp(verdict, nowhere, strlen(nowhere)) != 0);
	putchar('\n');
}

static void print_file(struct report *report, struct lc_arena *arena, const char *file,
		       const struct findings *findings, const struct code *code,
		       const char *verdict)
{
	const struct lc_strings unjudged = as_is_unjudged(arena, findings);

	printf("%s\n", lc_printable(arena, file));
	for (size_t i = 0; i < findings->stub_count; i++) {
		const char *inside = inside_text(arena, findings, i);

		if (*inside)
			line(arena, "inside", inside);
	}
	for (size_t i = 0; i < findings->import_count; i++)
		print_import(arena, findings, &findings->imports[i]);
	for (size_t i = 0; imports_any(findings) && i < report->tables->toolkit_count; i++)
		if (report->targets[i])
			print_target(report, arena, findings, i);
	if (report->wish.any)
		print_device_code(report, arena, code);
	for (size_t i = 0; i < findings->import_count; i++) {
		const char *note = import_note(arena, findings, &findings->imports[i]);

		if (note)
			line(arena, "note", note);
	}
	if (findings->lazy && binds_any(findings) && !findings->itself)
		line(arena, "note", lc_format(arena, "is bound lazily: once a real library is global in the"
		     " process, functions called for the first time bind to it, and it does not know what"
		     " was registered before; link with -Wl,-z,now%s",
		     as_is_retargeted(findings) ? "" : ", or use `lazycuda retarget`"));
	if (has_whole(findings))
		line(arena, "note", "which functions it calls is not known: `lazycuda embed --for` takes these alone,"
		     " and audit judges them");
	if (findings->constants.has_static && findings->import_count)
		line(arena, "note", "a CUDA runtime is linked into it statically, too");
	for (size_t i = 0; i < findings->constants.opens.count; i++)
		line(arena, "note", lc_format(arena, "holds the name %s: it may open that one"
					      " itself, whatever the stubs choose",
					      findings->constants.opens.list[i]));
	if (findings->constants.more_opens)
		line(arena, "note", "holds more names of libraries than are listed here");
	if (findings->stubless.count)
		line(arena, "note", lc_format(arena, "CUDA's, and there is no stub of it: %s",
					      list_names(arena, &findings->stubless)));
	if (unjudged.count)
		line(arena, "note", lc_format(arena, "not judged, neither CUDA's nor the system's: %s",
					      list_names(arena, &unjudged)));
	print_verdict(arena, "  verdict    ", verdict);
}

static const char *whole_verdict(struct report *report, struct lc_arena *arena,
				 const struct findings *findings, const struct fate *fate)
{
	const char *trouble = "";

	if (memcmp(fate->now, fate->served, sizeof(fate->now)))
		trouble = lc_format(arena, "; %s", as_is_text(report, arena, findings, fate));
	if (findings->itself)
		return lc_format(arena, "is %s %s itself", findings->stub ? "the stub for" :
				 "the real", findings->itself->name);
	if (findings->foreign)
		return "is for a 32-bit or big-endian CPU, which CUDA does not run on";
	if (findings->object)
		return "is not linked yet, so its imports are not judged";
	if (imports_any(findings))
		return lc_format(arena, "%s%s", has_whole(findings) ? "if it calls all that is inside: " : "",
				 verdict_text(report, arena, findings, fate));
	for (size_t i = 0; i < findings->import_count; i++)
		if (findings->imports[i].name_count)
			return "imports CUDA names from no library in particular: not judged";
	if (findings->import_count)
		return lc_format(arena, "imports no function of the libraries that it needs%s", trouble);
	if (findings->constants.has_static)
		return "the CUDA runtime is linked statically: nothing to retarget; link with"
		       " `nvcc -cudart none` to use the stub";
	if (findings->stubless.count)
		return lc_format(arena, "needs %s, as before%s", list_names(arena, &findings->stubless), trouble);
	return lc_format(arena, "imports nothing from the CUDA libraries%s", trouble);
}

/* ---- interface ---- */

void report_begin(struct report *report)
{
	for (size_t i = 0; i < report->tables->toolkit_count; i++)
		report->runs[i] = true;
	report->without_cuda = true;
	if (report->json) {
		json_open(NULL, '{');
		json_open("files", '[');
	}
}

/* Whether a target is served by what a driver loads. */
static bool is_served(const struct report *report, const struct code *code, size_t target)
{
	return code_serves(code, &report->wish, &report->wish.targets[target]).service <= BY_PTX;
}

static void count_code(struct report *report, const struct code *code)
{
	if (!report->wish.any || !code->group_count)
		return;
	report->with_code++;
	for (size_t i = 0; i < report->wish.target_count; i++)
		report->lacking[i] += !is_served(report, code, i);
}

void report_file(struct report *report, struct lc_arena *arena, const char *file,
		 const char *wheel, const struct findings *findings, const struct code *code)
{
	struct fate fate = { .now = { false } };
	bool imports = imports_any(findings);
	const char *verdict;
	size_t driver;

	report->files++;
	report->unjudged += findings->object || findings->foreign;
	report->importers += imports;
	report->without_cuda &= findings->foreign || as_is_without_cuda(findings);
	for (size_t i = 0; i < report->tables->toolkit_count; i++) {
		struct tally tally;

		count(arena, report->tables, findings, i, &tally);
		fate.served[i] = tally_runs(&tally) && !above_driver(report->tables, findings, i);
		fate.retargeted[i] = fate.served[i] && as_is_within_reach(report->tables, findings, i,
									  report->by_name);
		fate.now[i] = fate.retargeted[i] &&
			      as_is_with_its_libraries(report->tables, findings, i);
		if (as_is_apart(findings))
			fate.retargeted[i] = fate.now[i];
		report->runs[i] &= fate.now[i];
		report->importing[i] += imports && fate.now[i];
	}
	report->drives |= driver_needed(report->tables, findings, &driver);
	report->driver = driver > report->driver ? driver : report->driver;
	count_code(report, code);
	verdict = whole_verdict(report, arena, findings, &fate);
	if (report->json)
		json_file(report, arena, file, wheel, findings, code, &fate, verdict);
	else if (!report->quiet || findings->object || findings->import_count || findings->stubless.count ||
		 findings->constants.has_static || findings->constants.opens.count ||
		 (report->wish.any && code->group_count))
		print_file(report, arena, file, findings, code, verdict);
}

void report_error(struct report *report, const char *file, const char *wheel, const char *error)
{
	report->errors++;
	complain("audit", "%s %s", file, error);
	if (!report->json)
		return;
	json_open(NULL, '{');
	json_text("file", file);
	json_text("wheel", wheel);
	json_text("error", error);
	json_open("imports", '[');
	json_close(']');
	json_open("targets", '{');
	json_close('}');
	json_null("verdict");
	json_close('}');
}

/* ": of these run 2 on 11, 2 on 12, 1 on 13", each on its best minor version; "" if none could. */
static const char *shares(struct report *report, struct lc_arena *arena)
{
	const struct tables *tables = report->tables;
	const char *text = "";

	if (!report->importers)
		return text;
	for (size_t first = 0, end; first < tables->toolkit_count; first = end) {
		size_t most = 0;

		end = end_of_major(tables, first);
		for (size_t i = first; i < end; i++)
			if (report->importing[i] > most)
				most = report->importing[i];
		text = lc_format(arena, "%s%s%zu on %d", text, *text ? ", " : ": of these run ", most,
				 LC_MAJOR(tables->toolkits[first]));
	}
	return text;
}

static void json_lacking(const struct report *report)
{
	char arch[LK_ARCH_TEXT];

	if (!report->wish.any)
		return;
	json_size("with_device_code", report->with_code);
	json_open("without_code_for", '{');
	for (size_t i = 0; i < report->wish.target_count; i++)
		json_size(lk_arch_text(&report->wish.targets[i], arch), report->lacking[i]);
	json_close('}');
}

static void print_lacking(const struct report *report)
{
	char arch[LK_ARCH_TEXT];

	for (size_t i = 0; report->wish.any && i < report->wish.target_count; i++)
		printf("for %s: a driver loads code of %zu of %zu %s with device code\n",
		       lk_arch_text(&report->wish.targets[i], arch),
		       report->with_code - report->lacking[i], report->with_code,
		       report->with_code == 1 ? "file" : "files");
}

bool report_nothing(const struct report *report)
{
	return report->files == report->unjudged;
}

void report_end(struct report *report, struct lc_arena *arena)
{
	bool everywhere = !memchr(report->runs, false, report->tables->toolkit_count);
	const char *text = report_nothing(report) ? "nothing that could be judged" :
		!report->importers && everywhere ?
		"imports nothing from the CUDA libraries" :
		runs_text(arena, report->tables, report->runs);

	text = *text ? lc_format(arena, "%s%s", text, !report->importers ? "" :
				 driver_text(arena, report->tables, report->driver)) :
		       "runs on none";
	if (report->json) {
		json_close(']');
		json_open("all", '{');
		json_integer("files", (int)report->files);
		json_integer("importing", (int)report->importers);
		json_integer("errors", (int)report->errors);
		json_runs(report, arena, "runs_on", report->runs);
		json_driver(report, arena, report->drives, report->driver);
		json_lacking(report);
		json_text("verdict", text);
		json_close('}');
		json_close('}');
		return;
	}
	if (report->files + report->errors < (report->quiet ? 1 : 2))
		return;
	printf("%zu %s, %zu with CUDA imports%s\n", report->files, report->files == 1 ? "file" : "files",
	       report->importers, shares(report, arena));
	print_lacking(report);
	if (report->errors)
		printf("%zu that could not be read %s not judged\n", report->errors,
		       report->errors == 1 ? "is" : "are");
	print_verdict(arena, "all of it: ", text);
}
