/* SPDX-License-Identifier: MIT */
/*
 * fake_nvvm.c - a libnvvm that does what a comment in its input says
 *
 * "; DO crash" and the like, in the first module; else it makes PTX with a kernel k.
 * What it was told, options and modules, is its log.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	"// \xc3\xa9\n.visible .entry k() { ret; }\n";
static const char calls_f[] =
	".version 7.0\n.target sm_80\n.address_size 64\n.extern .func f();\n"
	".visible .entry k() { call f, (); ret; }\n";
static const char newer[] =
	".version 99.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

/* LTO-IR of 13.0 for sm_80, by its header; NULs and all. */
static const char ltoir[] =
	"\xed\x43\x4e\x7f\x01\x41\x02\x62\x03\x02\x07\0\x18\0\x01\0\x28\0\0\0\x28\0\0\0"
	"\x01\0\x20\x03\x02\0\x02\0\x63\0\0\0\0\0\0\0not really code";

struct program {
	char what[32], log[4096];
	int verified, lazily, lto;
};

static int does(const struct program *program, const char *what)
{
	return !strcmp(program->what, what);
}

const char *nvvmGetErrorString(int result)
{
	return result == 6 ? "NVVM_ERROR_INVALID_IR" : result == 9 ? "NVVM_ERROR_COMPILATION" :
						       "NVVM_ERROR_FAKE";
}

int nvvmCreateProgram(struct program **program)
{
	*program = calloc(1, sizeof(**program));
	return *program ? 0 : 1;
}

int nvvmDestroyProgram(struct program **program)
{
	free(*program);
	*program = NULL;
	return 0;
}

int nvvmAddModuleToProgram(struct program *program, const char *bytes, size_t length,
			   const char *name)
{
	const char *what = memmem(bytes, length, "; DO ", 5);

	if (what)
		sscanf(what + 5, "%31s", program->what);
	snprintf(program->log, sizeof(program->log), "\n\nmodule %s of %zu", name, length);
	return does(program, "reject") ? 4 : 0;
}

int nvvmLazyAddModuleToProgram(struct program *program, const char *bytes, size_t length,
			       const char *name)
{
	size_t used = strlen(program->log);

	program->lazily++;
	snprintf(program->log + used, sizeof(program->log) - used, ", %s of %zu: %.9s", name,
		 length, bytes);
	return does(program, "reject-lazily") ? 4 : 0;
}

static void note_options(struct program *program, int count, const char **options)
{
	size_t used = strlen(program->log);

	for (int i = 0; i < count; i++)
		used += (size_t)snprintf(program->log + used, sizeof(program->log) - used, " %s",
					 options[i]);
	snprintf(program->log + used, sizeof(program->log) - used, "\n\n");
}

int nvvmVerifyProgram(struct program *program, int count, const char **options)
{
	program->verified = 1;
	if (does(program, "invalid")) {
		strcpy(program->log, "k.ll (3, 15): error: parse expected type\n");
		return 6;
	}
	if (does(program, "newer-bitcode") || does(program, "bad-bitcode")) {
		sprintf(program->log, "k.ll: parse Invalid value (Producer: 'LLVM%d.1.8'"
			" Reader: 'LLVM 20.0.0')\n", does(program, "bad-bitcode") ? 20 : 22);
		return 6;
	}
	(void)count, (void)options;
	return program->lazily ? 4 : 0;	/* the program alone is verified */
}

int nvvmCompileProgram(struct program *program, int count, const char **options)
{
	for (int i = 0; i < count; i++)
		program->lto |= !strcmp(options[i], "-gen-lto");
	if (!program->verified)
		abort();
	note_options(program, count, options);
	if (does(program, "crash"))
		raise(SIGSEGV);
	if (does(program, "warn-and-fail"))
		strcpy(program->log, "warning: k may be inlined\nIt cannot be compiled\n");
	return does(program, "fail") || does(program, "warn-and-fail") ? 9 :
	       does(program, "no-memory") ? 1 : 0;
}

int nvvmGetProgramLogSize(struct program *program, size_t *size)
{
	*size = does(program, "bad-log") ? (size_t)1 << 60 : strlen(program->log) + 1;
	return 0;
}

int nvvmGetProgramLog(struct program *program, char *into)
{
	strcpy(into, program->log);
	return 0;
}

static const char *made(const struct program *program)
{
	return does(program, "garbage") ? "no PTX\n" : does(program, "newer") ? newer :
	       does(program, "calls") ? calls_f : ptx;
}

int nvvmGetCompiledResultSize(struct program *program, size_t *size)
{
	if (does(program, "no-result"))
		return 5;
	*size = does(program, "bad-size") ? (size_t)1 << 60 :
		program->lto ? sizeof(ltoir) : strlen(made(program)) + 1;
	return 0;
}

int nvvmGetCompiledResult(struct program *program, char *into)
{
	if (program->lto)
		memcpy(into, ltoir, sizeof(ltoir));
	else
		strcpy(into, made(program));
	return 0;
}
