/* SPDX-License-Identifier: MIT */
/* nvvm_backend.c - compiles LLVM IR to PTX or LTO-IR with libnvvm */
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/glibc.h"
#include "backends.h"
#include "tools.h"
#include "../plan/planning.h"

/* Adds the program and verifies it, since libnvvm may crash when it compiles an invalid one. */
static bool add_program(const struct lk_nvvm *compiler, void *program, const struct lazycuda_plan *plan,
			const struct lk_piece *piece, struct lk_product *product)
{
	return LK_CALL(product, "nvvmAddModuleToProgram",
		       compiler->add(program, piece->bytes, piece->length, piece->name)) &&
	       LK_CALL(product, "nvvmVerifyProgram",
		       compiler->verify(program, (int)plan->nvvm_option_count, plan->nvvm_options));
}

/* Adds a library of which libnvvm takes only what the program needs: to verify one of 50 MB takes a
 * fifth of the time of all else.  Sets *name to that of the piece. */
static bool add_lazily(const struct lk_nvvm *compiler, void *program, const struct lk_piece *pieces,
			  size_t count, const char **name, struct lk_product *product)
{
	for (size_t i = 0; i < count; i++) {
		*name = pieces[i].name;
		if (!LK_CALL(product, "nvvmLazyAddModuleToProgram",
			     compiler->add_lazily(program, pieces[i].bytes, pieces[i].length,
						  pieces[i].name)))
			return false;
	}
	return true;
}

/* The first piece is the program. */
static bool compile_program(const struct lk_nvvm *compiler, void *program, const struct lk_job *job,
			    const char **name, struct lk_product *product)
{
	const struct lazycuda_plan *plan = job->plan;

	if (!add_program(compiler, program, plan, job->pieces, product) ||
	    !add_lazily(compiler, program, job->pieces + 1, job->count - 1, name, product))
		return false;
	*name = job->pieces[0].name;
	return LK_CALL(product, "nvvmCompileProgram",
		       compiler->compile(program, (int)plan->nvvm_option_count, plan->nvvm_options));
}

/* The log, without the empty lines that libnvvm's logs begin and end with. */
static char *fetch_log(struct lc_arena *arena, const struct lk_nvvm *compiler, void *program)
{
	char *log = lk_fetch_log(arena, &compiler->log, program);
	size_t length;

	if (!log)
		return NULL;
	log += strspn(log, "\n");
	for (length = strlen(log); length && log[length - 1] == '\n';)
		log[--length] = 0;
	return *log ? log : NULL;
}

#define LAYOUT_LINE "write target datalayout = \"" LK_NVVM_LAYOUT "\""

/* Phrases in the logs of all versions, and what to do; `older`: of the older LLVM alone. */
static const struct { const char *text, *advice; bool older; } advices[] = {
	{ " incompatible with current version ", "write !nvvmir.version = !{!9999}"
	  " and !9999 = !{i32 2, i32 0}, or another number that is free", false },
	{ "Module does not contain a triple", "write target triple = \"nvptx64-nvidia-cuda\"",
	  false },
	{ "Empty target data layout", LAYOUT_LINE, false },
	{ "Target-incompatible DataLayout", LAYOUT_LINE, false },
	{ "DataLayoutError", LAYOUT_LINE "; declare libdevice, or what else other LLVM IR calls,"
	  " a library", false },
	{ "parse expected top-level entity", "if that is a target line, write both before all else;"
	  " target triple = \"nvptx64-nvidia-cuda\", and target datalayout", false },
	{ "parse expected type", "IR with opaque pointers is for sm_100 and later, or for"
	  " -nvvm-latest of 13.5 and later; for earlier targets write typed pointers", true },
	{ "Reader: 'LLVM 7", "bitcode of this producer is for sm_100 and later; before, what LLVM 7"
	  " knows, or text", true },
};

/* The number behind some text, or 0. */
static long number_behind(const char *text, const char *log)
{
	const char *found = strstr(log, text);

	return found ? strtol(found + strlen(text), NULL, 10) : 0;
}

static bool is_for_newer_llvm(const struct lazycuda_plan *plan)
{
	for (size_t i = 0; i < plan->nvvm_option_count; i++)
		if (number_behind("-arch=compute_", plan->nvvm_options[i]) >= LK_NEWER_LLVM_SINCE ||
		    !strcmp(plan->nvvm_options[i], "-nvvm-latest"))
			return true;
	return false;
}

static const char *advice_of(struct lc_arena *arena, const struct lazycuda_plan *plan,
			     const char *log)
{
	long reader;

	if (!log)
		return NULL;
	for (size_t i = 0; i < LC_COUNT(advices); i++)
		if (strstr(log, advices[i].text) &&
		    !(advices[i].older && is_for_newer_llvm(plan)))
			return advices[i].advice;
	reader = number_behind("Reader: 'LLVM ", log);
	if (!reader || number_behind("Producer: 'LLVM", log) <= reader)
		return NULL;
	return lc_format(arena, "have LLVM %ld or earlier write the bitcode, or take a later libnvvm",
			 reader);
}

static void explain_nvvm(struct lc_arena *arena, const struct lk_nvvm *compiler,
			 const struct lazycuda_plan *plan, const char *name,
			 struct lk_product *product)
{
	const char *advice = advice_of(arena, plan, product->error_log);

	lk_explain_compiler(arena, "libnvvm", compiler->version, name,
			    compiler->error_string(product->status), product);
	if (advice)
		product->message = lc_format(arena, "%s; %s", product->message, advice);
}

const char *lk_nvvm_compile(struct lc_arena *arena, const struct lk_job *job,
			    struct lk_product *product)
{
	struct lk_nvvm compiler;
	const char *missing = lk_load_nvvm(arena, job->plan->nvvm, &compiler);
	const char *name = job->pieces[0].name;
	void *program = NULL;
	bool compiled;
	char *log;

	if (missing)
		return missing;
	product->piece = 0;	/* now: a child that crashes reports it */
	compiled = LK_CALL(product, "nvvmCreateProgram", compiler.create(&program)) &&
		   compile_program(&compiler, program, job, &name, product);
	log = program ? fetch_log(arena, &compiler, program) : NULL;
	*(compiled ? &product->info_log : &product->error_log) = log;
	if (compiled)
		lk_fetch_image(arena, &compiler.image, program, product);
	if (product->status)
		explain_nvvm(arena, &compiler, job->plan, name, product);
	if (program)
		compiler.destroy(&program);
	product->piece = LAZYCUDA_NO_INDEX;
	return NULL;
}
