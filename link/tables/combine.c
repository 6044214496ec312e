/* SPDX-License-Identifier: MIT */
/* combine.c - whether compiler, linker, runtime and driver may work together */
#include <stdarg.h>
#include <stdio.h>

#include "sized.h"
#include "versions.h"
#include "../../stubs/base/printable.h"

/*
 * Every rule states its objection.  The first definite objection is the answer; an
 * unknown version is the answer only if no rule has a definite one.
 */
struct answer {
	enum lazycuda_outcome outcome;
	char text[512];
};

/* A toolkit library that the question is about. */
struct part {
	const char *name;
	int version;
};

enum { CUDART, NVRTC, NVJITLINK, PARTS };

struct question {
	struct lazycuda_combination in;
	struct part parts[PARTS];
	bool piped;	/* nvrtc hands code to the linker or the driver */
};

static bool asked(int version)
{
	return version != LAZYCUDA_VERSION_NONE;
}

static bool known(int version)
{
	return version > 0;
}

__attribute__((format(printf, 3, 4)))
static void rule(struct answer *answer, enum lazycuda_outcome outcome, const char *format, ...)
{
	bool vague = outcome == LAZYCUDA_OUTCOME_INSUFFICIENT_METADATA;
	va_list arguments;

	if (answer->outcome != LAZYCUDA_OUTCOME_COMPATIBLE &&
	    (vague || answer->outcome != LAZYCUDA_OUTCOME_INSUFFICIENT_METADATA))
		return;
	answer->outcome = outcome;
	va_start(arguments, format);
	vsnprintf(answer->text, sizeof(answer->text), format, arguments);
	va_end(arguments);
}

static void say_unknown(struct answer *answer, const char *name)
{
	rule(answer, LAZYCUDA_OUTCOME_INSUFFICIENT_METADATA,
	     "the version of %s is not known; give it, or use the policy best_effort", name);
}

/* ---- the user's constraint ---- */

static void check_constraint(const struct question *question, struct answer *answer)
{
	const char *constraint = question->in.constraint, *wrong;

	if (!constraint || lc_constraint_holds(constraint, LC_CUDA(1, 0), &wrong) >= 0)
		return;
	rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE,
	     "the constraint \"%.100s\" is malformed at character %zu (\"%.20s\");"
	     " write it like \">=13.2,<14\"", constraint, (size_t)(wrong - constraint) + 1,
	     *wrong ? wrong : "its end");
}

static void apply_constraint(const struct question *question, struct answer *answer)
{
	const char *constraint = question->in.constraint;

	for (size_t i = 0; constraint && i < PARTS; i++) {
		const struct part *part = &question->parts[i];
		char version[LK_VERSION_TEXT];

		if (!asked(part->version))
			continue;
		if (!known(part->version))
			say_unknown(answer, part->name);
		else if (!lc_constraint_holds(constraint, part->version, NULL))
			rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE,
			     "%s %s does not satisfy the constraint \"%.100s\"; use one that does",
			     part->name, lk_version_text(part->version, version), constraint);
	}
}

/* ---- nvrtc and nvJitLink ---- */

static const char *carried(const struct question *question)
{
	switch (question->in.carries) {
	case LAZYCUDA_KIND_PTX:
		return "PTX";
	case LAZYCUDA_KIND_LTOIR:
		return "LTO-IR";
	default:
		return "cubins";
	}
}

static void apply_pipeline(const struct question *question, struct answer *answer)
{
	int nvrtc = question->in.nvrtc, nvjitlink = question->in.nvjitlink;
	char compiler[LK_VERSION_TEXT], linker[LK_VERSION_TEXT];

	if (!question->piped || !asked(nvjitlink))
		return;
	if (!known(nvrtc) || !known(nvjitlink)) {
		say_unknown(answer, known(nvrtc) ? "nvJitLink" : "nvrtc");
		return;
	}
	lk_version_text(nvrtc, compiler);
	lk_version_text(nvjitlink, linker);
	switch (lk_linker_reads(question->in.carries, nvrtc, nvjitlink,
				question->in.flags & LAZYCUDA_LINK_LTO_ACROSS_MAJORS)) {
	case LK_READS:
		break;
	case LK_TOO_NEW:
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE,
		     "nvJitLink %s is older than nvrtc %s, whose %s it is to link;"
		     " use nvJitLink %s or later, or nvrtc %s or older",
		     linker, compiler, carried(question), compiler, linker);
		break;
	case LK_CROSS_MAJOR:
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE,
		     "LTO-IR of nvrtc %s is not for nvJitLink %s, which is of another major;"
		     " use nvrtc and nvJitLink of one major%s", compiler, linker,
		     nvrtc >= LC_CUDA(12, 0) ? ", or allow LTO-IR across majors" : "");
		break;
	}
}

/* ---- the driver ---- */

/* The driver runs a runtime, or loads the cubins that a compiler or a linker makes. */
static void apply_driver(const struct question *question, const struct part *part,
			 struct answer *answer)
{
	int version = question->in.driver, branch = question->in.branch;
	char driver[LK_VERSION_TEXT], toolkit[LK_VERSION_TEXT];

	if (!known(version) || !known(part->version)) {
		say_unknown(answer, known(version) ? part->name : "the driver");
		return;
	}
	lk_version_text(version, driver);
	lk_version_text(part->version, toolkit);
	switch (lc_driver_runs(version, branch, part->version)) {
	case LC_DRIVER_RUNS:
		break;
	case LC_MAJOR_TOO_OLD:
		rule(answer, LAZYCUDA_OUTCOME_DRIVER_TOO_OLD,
		     "the driver is for CUDA %s, and %s %s needs one for CUDA %d.0 or later;"
		     " update the driver, or use %s %d", driver, part->name, toolkit,
		     LC_CUDA_MAJOR(part->version), part->name, LC_CUDA_MAJOR(version));
		break;
	case LC_BRANCH_TOO_OLD:
		rule(answer, LAZYCUDA_OUTCOME_DRIVER_TOO_OLD,
		     "the display driver is of branch %d, and %s %s with a driver for CUDA %s needs"
		     " branch %d or later; update the driver, or use %s %s or older", branch,
		     part->name, toolkit, driver, lc_compatible_branch(LC_CUDA_MAJOR(version)),
		     part->name, driver);
		break;
	case LC_BRANCH_UNKNOWN:
		rule(answer, LAZYCUDA_OUTCOME_INSUFFICIENT_METADATA,
		     "%s %s needs a driver for CUDA %s of a certain branch, and its branch is not known;"
		     " give it, or use the policy best_effort", part->name, toolkit, driver);
		break;
	}
}

/* The driver compiles PTX itself and has to be as new as the PTX: minor-version
 * compatibility does not extend to PTX. */
static void apply_driver_to_ptx(const struct question *question, struct answer *answer)
{
	int version = question->in.driver, nvrtc = question->in.nvrtc;
	char driver[LK_VERSION_TEXT], compiler[LK_VERSION_TEXT];

	if (!known(version) || !known(nvrtc)) {
		say_unknown(answer, known(version) ? "nvrtc" : "the driver");
		return;
	}
	int isa = lk_isa_of_cuda(nvrtc);
	if (isa <= lk_isa_of_cuda(version))
		return;
	lk_version_text(version, driver);
	lk_version_text(nvrtc, compiler);
	rule(answer, LAZYCUDA_OUTCOME_DRIVER_TOO_OLD,
	     "the driver is for CUDA %s and does not load PTX %d.%d, which nvrtc %s writes;"
	     " update the driver, use nvrtc %s or older, or have it write cubins",
	     driver, isa / 10, isa % 10, compiler, driver);
}

static void apply_driver_to_nvrtc(const struct question *question, struct answer *answer)
{
	/* What the linker takes does not reach the driver. */
	if (question->piped && asked(question->in.nvjitlink))
		return;
	if (question->piped && question->in.carries == LAZYCUDA_KIND_PTX)
		apply_driver_to_ptx(question, answer);
	else
		apply_driver(question, &question->parts[NVRTC], answer);
}

static void apply_drivers(const struct question *question, struct answer *answer)
{
	const struct lazycuda_combination *in = &question->in;

	if (!asked(in->driver))
		return;
	if (question->piped && in->carries == LAZYCUDA_KIND_LTOIR && !asked(in->nvjitlink))
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE,
		     "the driver does not link LTO-IR, and there is no nvJitLink;"
		     " install nvJitLink, or have nvrtc write PTX or cubins");
	if (in->flags & LAZYCUDA_LINK_FORWARD_COMPATIBLE)
		return;
	if (asked(in->cudart))
		apply_driver(question, &question->parts[CUDART], answer);
	if (asked(in->nvrtc))
		apply_driver_to_nvrtc(question, answer);
	if (asked(in->nvjitlink))
		apply_driver(question, &question->parts[NVJITLINK], answer);
}

static void check_numbers(const struct question *question, struct answer *answer)
{
	const struct lazycuda_combination *in = &question->in;
	const unsigned flags = LAZYCUDA_LINK_FORWARD_COMPATIBLE | LAZYCUDA_LINK_LTO_ACROSS_MAJORS;

	if ((unsigned)in->policy > LAZYCUDA_POLICY_OFF)
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE, "there is no policy %d",
		     (int)in->policy);
	if (!lk_is_version(in->driver) || !lk_is_version(in->cudart) ||
	    !lk_is_version(in->nvrtc) || !lk_is_version(in->nvjitlink) || in->branch < 0)
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE,
		     "a number is not a version: 12.9 is 12090");
	if (in->flags & ~flags)
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE,
		     "the flags %#x say nothing of versions", in->flags & ~flags);
	if (in->carries != LAZYCUDA_KIND_UNKNOWN && in->carries != LAZYCUDA_KIND_PTX &&
	    in->carries != LAZYCUDA_KIND_CUBIN && in->carries != LAZYCUDA_KIND_LTOIR)
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE, "nvrtc hands over PTX, a cubin or"
		     " LTO-IR, and not the kind %d", (int)in->carries);
}

/* ---- the answer ---- */

static struct question read_question(const struct lazycuda_combination *combination,
				     struct answer *answer)
{
	struct question question = { 0 };
	struct lazycuda_combination *in = &question.in;

	if (!lk_sized_copy(in, sizeof(*in), combination))
		rule(answer, LAZYCUDA_OUTCOME_INCOMPATIBLE, "the combination " LK_NO_STRUCT);
	/* If only the display driver is known, its branch tells the version. */
	if (in->driver < 0 && lk_cuda_of_branch(in->branch))
		in->driver = lk_cuda_of_branch(in->branch);
	question.parts[CUDART] = (struct part){ "cudart", in->cudart };
	question.parts[NVRTC] = (struct part){ "nvrtc", in->nvrtc };
	question.parts[NVJITLINK] = (struct part){ "nvJitLink", in->nvjitlink };
	question.piped = asked(in->nvrtc) && in->carries != LAZYCUDA_KIND_UNKNOWN;
	return question;
}

/* "nvrtc 13.0, nvJitLink 13.0, driver 13.0" */
static void describe(const struct question *question, char *text, size_t size)
{
	char version[LK_VERSION_TEXT];
	size_t used = 0;

	snprintf(text, size, "nothing");
	for (size_t i = 0; i <= PARTS && used < size; i++) {
		struct part part = { "driver", question->in.driver };

		if (i < PARTS)
			part = question->parts[i];
		if (asked(part.version))
			used += (size_t)snprintf(text + used, size - used, "%s%s %s",
						 used ? ", " : "", part.name,
						 lk_version_text(part.version, version));
	}
}

enum lazycuda_outcome lazycuda_combine(const struct lazycuda_combination *combination,
				       char *message, size_t size)
{
	struct answer answer = { LAZYCUDA_OUTCOME_COMPATIBLE, "" };
	struct question question = read_question(combination, &answer);
	char parts[160];

	describe(&question, parts, sizeof(parts));
	check_numbers(&question, &answer);
	check_constraint(&question, &answer);
	if (answer.outcome == LAZYCUDA_OUTCOME_COMPATIBLE &&
	    question.in.policy != LAZYCUDA_POLICY_OFF) {
		apply_constraint(&question, &answer);
		apply_pipeline(&question, &answer);
		apply_drivers(&question, &answer);
	}
	if (answer.outcome == LAZYCUDA_OUTCOME_COMPATIBLE) {
		snprintf(answer.text, sizeof(answer.text), "%s: %s", parts,
			 question.in.policy == LAZYCUDA_POLICY_OFF ? "not looked at, policy off" :
								     "compatible");
	} else if (answer.outcome == LAZYCUDA_OUTCOME_INSUFFICIENT_METADATA &&
		   question.in.policy != LAZYCUDA_POLICY_STRICT) {
		answer.outcome = LAZYCUDA_OUTCOME_COMPATIBLE;
		snprintf(answer.text, sizeof(answer.text),
			 "%s: compatible as far as is known", parts);
	}
	lc_make_printable(answer.text);	/* it may quote the constraint */
	if (message && size)
		snprintf(message, size, "%s", answer.text);
	return answer.outcome;
}
