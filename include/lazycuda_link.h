/* SPDX-License-Identifier: MIT */
/*
 * lazycuda_link.h - how device code gets linked: seen, decided, carried out
 *
 * A JIT or a wheel has PTX, cubins, LTO-IR, fatbins, host objects, archives or
 * CUDA source, and wants one image that the driver loads.  Two linkers exist:
 * nvJitLink and the driver's cuLink*.  Three steps, each usable by itself:
 *
 *   lazycuda_inspect()	says what the bytes are;
 *   lazycuda_plan()	decides, without touching anything, which linker takes
 *			which part of which input, or refuses and says why;
 *   lazycuda_link_run()	does what the plan says.
 *
 * The library is liblazycuda_link.so.  It needs libnvJitLink_stub.so,
 * libnvrtc_stub.so and libcuda_stub.so, and so runs on a machine that has no CUDA at all.
 *
 * Every function is thread-safe: the only objects that are changed after they
 * were made are links, and each link belongs to one thread at a time.  Nothing
 * here prints.  Results belong to the caller and have a function that frees
 * them; what they point to lives as long as they do.  NULL results mean that
 * memory ran out, unless stated otherwise.
 *
 * Structs that the caller fills begin with `size`, the size of the struct as
 * the caller knows it (sizeof); the rest may be zero, and zero is the default
 * of every field.  Structs that the library fills may grow at their end.
 *
 * Versions are CUDA's own numbers, 1000 * major + 10 * minor: 12090 is 12.9.
 */
#ifndef LAZYCUDA_LINK_H
#define LAZYCUDA_LINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)	/* also in a program built with hidden names */
#endif

#define LAZYCUDA_VERSION_NONE 0		/* not installed; for what made an input: not known */
#define LAZYCUDA_VERSION_UNKNOWN (-1)	/* installed, but nobody knows which */

/* ---- what the bytes are ---- */

enum lazycuda_kind {
	LAZYCUDA_KIND_UNKNOWN = 0,	/* as a declared kind: go by the content */
	LAZYCUDA_KIND_PTX = 1,
	LAZYCUDA_KIND_CUBIN = 2,	/* an ELF file for the device */
	LAZYCUDA_KIND_LTOIR = 3,
	LAZYCUDA_KIND_FATBIN = 4,	/* one container, or several behind each other */
	LAZYCUDA_KIND_OBJECT = 5,	/* a host object, with device code or without */
	LAZYCUDA_KIND_ARCHIVE = 6,	/* a static library of such objects */
	LAZYCUDA_KIND_SHARED = 7,	/* a host shared library or executable */
	LAZYCUDA_KIND_SOURCE = 8,	/* CUDA C++ */
	/* Recognised, and refused by name: no linker here takes them. */
	LAZYCUDA_KIND_THIN_ARCHIVE = 9,	/* names files that lie elsewhere */
	LAZYCUDA_KIND_BITCODE = 10,	/* LLVM bitcode, which is not LTO-IR */
	LAZYCUDA_KIND_OFFLOAD = 11,	/* clang's offload binary or bundle */
	LAZYCUDA_KIND_OPTIXIR = 12,
	LAZYCUDA_KIND_TILEIR = 13,
	LAZYCUDA_KIND_KINDS
};

/* "ptx", "cubin", "ltoir", "fatbin", "object", "archive", "shared", "source",
 * "thin archive", "bitcode", "offload binary", "optixir", "tileir", "unknown". */
const char *lazycuda_kind_name(enum lazycuda_kind kind);

/* Flags of an entry. */
#define LAZYCUDA_ENTRY_RELOCATABLE	0x001u	/* may be linked with others */
#define LAZYCUDA_ENTRY_LINKED		0x002u	/* a cubin that is linked (ET_EXEC) */
#define LAZYCUDA_ENTRY_LZ4		0x004u	/* compressed */
#define LAZYCUDA_ENTRY_ZSTD		0x008u	/* compressed */
#define LAZYCUDA_ENTRY_OBFUSCATED	0x010u	/* compressed LTO-IR that only nvJitLink reads */
#define LAZYCUDA_ENTRY_DEBUG		0x020u	/* made for debugging */
#define LAZYCUDA_ENTRY_UNSEEN		0x040u	/* compressed and not unpacked: what the
						   fatbin's header does not tell is not known */
#define LAZYCUDA_ENTRY_OVER_LIMIT	0x080u	/* would be unpacked to more than is allowed */

/* Something of an entry that other inputs may meet. */
struct lazycuda_symbol {
	const char *name;	/* as in the code: mangled */
	uint32_t hash;		/* of the name; another each time a program is started.
				   Who makes symbols of his own has any, the same for
				   the same name */
	unsigned char defined;	/* 0: the entry needs it from elsewhere */
	unsigned char weak;	/* may be defined more than once */
	unsigned char kernel;
};

/* One piece of device code. */
struct lazycuda_entry {
	enum lazycuda_kind kind;	/* PTX, CUBIN or LTOIR, or a kind that is refused;
					   UNKNOWN: a fatbin entry of no known kind */
	int arch;			/* 90 for sm_90; 0: not known */
	char suffix;			/* 'a', 'f' or 0; 'f' is visible in PTX and fatbins only */
	int toolkit;			/* the toolkit that made it, 12090; 0: not known */
	int isa;			/* PTX: 10 * major + minor, 88 for 8.8; else 0 */
	int level;			/* LTO-IR: 0 linked by nvJitLink, 1 from a compiler,
					   2 OptiX; -1: not known */
	/* LTO-IR: the versions its header tells, as major * 1000 + minor; 0: not known */
	int container, ir, debug, llvm;
	int abi;			/* cubin: ELF ABI version, 7 or 8; else 0 */
	unsigned flags;
	const char *error;		/* NULL, or why it cannot be used */

	const char *member;		/* of an archive; NULL */
	const char *section;		/* of a host file; NULL */
	int fatbin;			/* which container of the file, from 0; -1: none */
	uint64_t header;		/* where the fatbin entry begins in the file; equal
					   to `offset` for what is in no fatbin */
	uint64_t offset, length;	/* the payload in the file, as stored, in bytes */
	uint64_t unpacked;		/* its size when unpacked, in bytes */

	const struct lazycuda_symbol *symbols;	/* of PTX and relocatable cubins, if read */
	size_t symbol_count;
};

struct lazycuda_inspection {
	size_t size;			/* bytes of this struct that are filled */
	enum lazycuda_kind kind;
	const char *name;		/* as given */
	const char *error;		/* NULL; or what is wrong with the whole, and where:
					   "fatbin at 0x40: entry 2 ends behind the file" */
	const char *warning;		/* NULL, or that the name says something else, or that
					   some code is not seen for want of a library */
	const struct lazycuda_entry *const *entries;	/* in the order of the file */
	size_t entry_count;
	int fatbin_count;
	uint64_t length;		/* of the whole, in bytes */
};

/*
 * Without flags only headers are read, so that a library of gigabytes costs no
 * more than the pages its headers lie on.
 */
#define LAZYCUDA_INSPECT_PAYLOADS 0x1u	/* unpack, to see versions; read symbols */

/*
 * Says what bytes are, from the bytes alone; `name` is for messages and may be
 * NULL.  Trusts nothing in them.  The bytes are not copied: they have to stay
 * as they are until the inspection is freed.
 *
 * A damaged file is an inspection with `error`, and no entries beyond the
 * damage; a file that is nothing for us is of kind UNKNOWN, without an error.
 * Compressed entries are unpacked with liblz4.so.1 and libzstd.so.1, which are
 * loaded when they are first needed; without them such entries stay UNSEEN.
 */
struct lazycuda_inspection *lazycuda_inspect(const void *bytes, size_t length,
					     const char *name, unsigned flags);

/* The same of a file, which stays open until the inspection is freed, and is
 * read, not mapped: a file that is cut short meanwhile is an error, no signal.
 * One that cannot be read is an inspection with `error`. */
struct lazycuda_inspection *lazycuda_inspect_file(const char *path, unsigned flags);

struct lazycuda_input;

/*
 * The same of the bytes or the path of an input, and with a limit of one's own,
 * in bytes, on what all compressed code of the file is unpacked to.  0 is the limit
 * that the others have: 32 times the length of the file, and at least 256 MiB.
 * An entry that would exceed it has an error and the flag OVER_LIMIT, and is not
 * unpacked; those behind it are, if they are small enough.
 */
struct lazycuda_inspection *lazycuda_inspect_input(const struct lazycuda_input *input,
						   unsigned flags, uint64_t unpack_limit);

void lazycuda_inspection_free(struct lazycuda_inspection *inspection);

/*
 * A copy of an entry's code: PTX with a NUL behind it that *length does not
 * count, a cubin, or LTO-IR; unpacked if `unpack`, else as it is stored.  To be
 * freed with free().  NULL if it cannot be had, and then *error, if not NULL,
 * says why, as text that is not to be freed.
 */
void *lazycuda_entry_payload(const struct lazycuda_inspection *inspection, size_t entry,
			     int unpack, size_t *length, const char **error);

/*
 * A copy of a fatbin that holds this entry alone, as it is stored: how code
 * that only nvJitLink can unpack gets there without its neighbours.  As above;
 * NULL for an entry that is in no fatbin.
 */
void *lazycuda_entry_fatbin(const struct lazycuda_inspection *inspection, size_t entry,
			    size_t *length, const char **error);

/* ---- the decision ---- */

/* What is installed.  A version, NONE or UNKNOWN in each. */
struct lazycuda_environment {
	size_t size;
	int driver;		/* the CUDA version it supports */
	int branch;		/* of the display driver, 580; 0: not known */
	int nvjitlink;
	int nvrtc;
};

enum lazycuda_policy {
	LAZYCUDA_POLICY_BEST_EFFORT = 0,	/* whatever is sure to work */
	LAZYCUDA_POLICY_STRICT = 1,		/* the matrix of cuda-python #1911 */
	LAZYCUDA_POLICY_OFF = 2			/* nvJitLink whenever there is one */
};

enum lazycuda_output {
	LAZYCUDA_OUTPUT_CUBIN = 0,	/* an image to load */
	LAZYCUDA_OUTPUT_PTX = 1,	/* after link-time optimisation */
	LAZYCUDA_OUTPUT_RELOCATABLE = 2,	/* a cubin to be linked again */
	LAZYCUDA_OUTPUT_LTOIR = 3	/* to be linked again with optimisation */
};

/* Flags of an input. */
#define LAZYCUDA_INPUT_MAIN 0x1u	/* the program itself; what it declares as
					   external decides on support modules */

/*
 * One thing to link.  Either `bytes` or `path` is given.  Nothing is copied:
 * all of it has to stay as it is until the link or the plan is freed.
 */
struct lazycuda_input {
	size_t size;
	enum lazycuda_kind kind;	/* what it is declared to be; refused if the content
					   is something else.  UNKNOWN: by the content */
	const char *name;		/* for messages and logs; NULL: the path */
	const void *bytes;
	size_t length;
	const char *path;
	unsigned flags;
	uint64_t needs;			/* bit n: support module n of the request */
	/* For whoever loads the result: see lazycuda_link_setup(). */
	void (*setup)(void *module, void *data);
	void (*teardown)(void *module, void *data);
	void *data;
	/* What it is, for lazycuda_plan(), made with LAZYCUDA_INSPECT_PAYLOADS;
	 * lazycuda_link_run() inspects what has none. */
	const struct lazycuda_inspection *inspection;
};

/*
 * A module of helper functions (numba's NRT is the model).  It is linked, once,
 * if it is enabled and either a MAIN input that is PTX or a cubin declares one
 * of its functions as external, or some input that is linked has its bit in
 * `needs`.  Source text is not searched, nor is any input that is not MAIN.
 */
struct lazycuda_support {
	size_t size;
	const char *name;
	int enabled;
	const char *const *functions;
	size_t function_count;
	const struct lazycuda_input *input;
};

/* Flags of a request. */
#define LAZYCUDA_LINK_LTO_ACROSS_MAJORS	0x1u	/* LTO-IR of an older major: works in every
						   case tried and is promised in none */
#define LAZYCUDA_LINK_OFFLINE		0x2u	/* the result is for another machine: the
						   driver here need not be able to load it */
#define LAZYCUDA_LINK_FORWARD_COMPATIBLE 0x4u	/* a forward-compatibility driver makes up
						   for an old one: relaxes the driver's version
						   against the toolkit's, and nothing else */

struct lazycuda_request {
	size_t size;
	const char *arch;		/* "sm_90", "sm_90a"; "compute_90" for PTX output */
	int lto;			/* optimise at link time; raw LTO-IR implies it */
	enum lazycuda_output output;
	enum lazycuda_policy policy;
	unsigned flags;
	const char *const *options;	/* in nvJitLink's spelling, "-lineinfo" */
	size_t option_count;
	const char *const *compile_options;	/* of nvrtc, for source: "-I/usr/include" */
	size_t compile_option_count;
	const char *const *symbols;	/* that the result has to define */
	size_t symbol_count;
	const struct lazycuda_support *const *support;
	size_t support_count;		/* at most 64 */
	const char *constraint;		/* on the toolkit, ">=13.2,<14"; NULL: none */
	int device;			/* the driver's linker needs a context: where none is
					   current it gets this device's primary one */
	uint64_t unpack_limit;		/* on each input that lazycuda_link_run() inspects, as of
					   lazycuda_inspect_input() */
};

/* Why there is no image.  Numbers and names are stable. */
enum lazycuda_code {
	LAZYCUDA_CODE_OK = 0,
	/* the request */
	LAZYCUDA_CODE_NO_INPUTS = 1,
	LAZYCUDA_CODE_BAD_ARCH = 2,			/* no such architecture */
	LAZYCUDA_CODE_BAD_OPTION = 3,			/* unknown to all, or contradictory */
	LAZYCUDA_CODE_BAD_REQUEST = 4,			/* some field makes no sense */
	/* the inputs */
	LAZYCUDA_CODE_BAD_INPUT = 10,			/* damaged or unreadable */
	LAZYCUDA_CODE_UNKNOWN_KIND = 11,		/* nothing that could be linked */
	LAZYCUDA_CODE_UNSUPPORTED_KIND = 12,		/* bitcode, a thin archive, ... */
	LAZYCUDA_CODE_KIND_MISMATCH = 13,		/* declared as something else */
	LAZYCUDA_CODE_NO_DEVICE_CODE = 14,		/* a host file without any */
	LAZYCUDA_CODE_NO_USABLE_ENTRY = 15,		/* nothing in it for target and linker */
	LAZYCUDA_CODE_LINKED_CUBIN = 16,		/* linked already: would be dropped */
	LAZYCUDA_CODE_DUPLICATE_SYMBOL = 17,
	LAZYCUDA_CODE_CANNOT_UNPACK = 18,		/* compressed, and nothing unpacks it */
	LAZYCUDA_CODE_UNPACK_LIMIT = 19,		/* compressed, and unpacks to too much */
	/* versions */
	LAZYCUDA_CODE_PTX_TOO_NEW = 20,
	LAZYCUDA_CODE_CUBIN_TOO_NEW = 21,
	LAZYCUDA_CODE_LTOIR_TOO_NEW = 22,
	LAZYCUDA_CODE_LTOIR_CROSS_MAJOR = 23,
	LAZYCUDA_CODE_ARCH_MISMATCH = 24,		/* code for another architecture */
	LAZYCUDA_CODE_ARCH_UNSUPPORTED = 25,		/* the tool does not know the target */
	LAZYCUDA_CODE_OPTION_UNSUPPORTED = 26,		/* by this backend or version */
	LAZYCUDA_CODE_PTX_NEEDS_LTO = 27,		/* PTX output of what is not LTO-IR */
	/* what is installed */
	LAZYCUDA_CODE_NO_BACKEND = 30,
	LAZYCUDA_CODE_NVJITLINK_REQUIRED = 31,
	LAZYCUDA_CODE_NVJITLINK_TOO_OLD = 32,
	LAZYCUDA_CODE_NVRTC_REQUIRED = 33,
	LAZYCUDA_CODE_NVRTC_TOO_NEW = 34,		/* newer than what links its output */
	LAZYCUDA_CODE_CROSS_MAJOR = 35,			/* driver and nvJitLink differ in major */
	LAZYCUDA_CODE_LTOIR_ON_DRIVER = 36,		/* the driver does not link LTO-IR */
	LAZYCUDA_CODE_DRIVER_TOO_OLD = 37,		/* would not load the result */
	LAZYCUDA_CODE_CONSTRAINT = 38,			/* forbids what is installed */
	LAZYCUDA_CODE_INSUFFICIENT_METADATA = 39,	/* a version is unknown; strict only */
	/* carrying it out */
	LAZYCUDA_CODE_COMPILE_FAILED = 50,		/* nvrtc refused the source: see the log */
	LAZYCUDA_CODE_LINK_FAILED = 51,			/* the linker refused; see the log */
	LAZYCUDA_CODE_UNDEFINED_SYMBOL = 52,		/* the linker misses a definition */
	LAZYCUDA_CODE_BAD_IMAGE = 53,			/* reported as a success, and is none */
	LAZYCUDA_CODE_BACKEND_MISSING = 54,		/* of the plan, cannot be loaded */
	LAZYCUDA_CODE_DRIVER_FAILED = 55,		/* no device, no context */
	LAZYCUDA_CODE_NO_MEMORY = 56
};

/* "LTOIR_TOO_NEW"; "OK"; NULL for a number that is none. */
const char *lazycuda_code_name(enum lazycuda_code code);

enum lazycuda_backend {
	LAZYCUDA_BACKEND_NONE = 0,	/* refused */
	LAZYCUDA_BACKEND_NVJITLINK = 1,
	LAZYCUDA_BACKEND_DRIVER = 2
};

/* In what form an entry is handed to the backend. */
enum lazycuda_form {
	LAZYCUDA_FORM_AS_IS = 0,	/* the payload, as it is stored */
	LAZYCUDA_FORM_UNPACKED = 1,	/* the payload, unpacked */
	LAZYCUDA_FORM_FATBIN = 2,	/* in a fatbin of its own: lazycuda_entry_fatbin() */
	LAZYCUDA_FORM_COMPILED = 3	/* source, compiled by nvrtc first */
};

#define LAZYCUDA_NO_INDEX ((size_t)-1)

/* One thing that the backend is given. */
struct lazycuda_step {
	size_t input;			/* index; NO_INDEX: support module `support` */
	size_t support;			/* index; NO_INDEX: an input */
	size_t entry;			/* of its inspection; NO_INDEX: all of it, source */
	enum lazycuda_form form;
	enum lazycuda_kind kind;	/* what the backend is told it is: PTX, CUBIN, LTOIR
					   or FATBIN */
	const char *name;		/* for the backend's logs */
	const char *reason;		/* why this entry, one line */
};

/* An option of cuLinkCreate that is a number; buffers are the handle's. */
struct lazycuda_jit_option {
	int option;			/* CUjit_option */
	unsigned value;
	const char *name;		/* "CU_JIT_TARGET" */
};

struct lazycuda_plan {
	size_t size;
	enum lazycuda_backend backend;
	enum lazycuda_code code;	/* OK if there is a backend */
	const char *rule;		/* the row of the table that decided: "B11" */
	size_t input;			/* the offending one, or NO_INDEX */
	const char *have;		/* what it is, "LTO-IR of CUDA 12.5"; NULL */
	const char *need;		/* what would be needed, "nvJitLink 12.5 or later"; NULL */
	const char *message;		/* one line: why so, or why not and what to do */
	int lto;			/* whether -lto is given */
	const char *const *options;	/* for nvJitLinkCreate, or what stands for the driver's
					   options in words */
	size_t option_count;
	const struct lazycuda_jit_option *jit_options;	/* for cuLinkCreate */
	size_t jit_option_count;
	const char *const *compile_options;	/* for nvrtcCompileProgram */
	size_t compile_option_count;
	enum lazycuda_kind compile_to;	/* PTX, LTOIR or CUBIN; UNKNOWN: nothing to compile */
	const struct lazycuda_step *const *steps;	/* in the order of linking */
	size_t step_count;
	const char *const *notes;	/* options that were dropped, leaks of this version, ... */
	size_t note_count;
};

/*
 * Decides.  A pure function: the same arguments give the same plan, in any
 * thread and without any machine.  Every input needs its inspection, but for
 * source, whose kind may be declared instead.
 */
struct lazycuda_plan *lazycuda_plan(const struct lazycuda_environment *environment,
				    const struct lazycuda_request *request,
				    const struct lazycuda_input *const *inputs,
				    size_t input_count);
void lazycuda_plan_free(struct lazycuda_plan *plan);

/* ---- which versions go together ---- */

enum lazycuda_outcome {
	LAZYCUDA_OUTCOME_COMPATIBLE = 0,
	LAZYCUDA_OUTCOME_INCOMPATIBLE = 1,
	LAZYCUDA_OUTCOME_INSUFFICIENT_METADATA = 2,	/* a version is not known */
	LAZYCUDA_OUTCOME_DRIVER_TOO_OLD = 3
};

/*
 * May these work together?  What is NONE is no part of the question.  The rules,
 * each for those that are part of it; the first no is the answer:
 *
 *   constraint	cudart, nvrtc and nvJitLink satisfy it; it does not concern the
 *		driver
 *   pipeline	nvJitLink is not older than nvrtc, whose output it links; LTO-IR
 *		is of its own major
 *   driver	it is not older than a library whose work it is to run: as new,
 *		or of the same major and of a display driver's branch from which
 *		on that major has minor-version compatibility (450 for 11, 525
 *		for 12, 580 for 13)
 *
 * What the driver gets is the last product: nvJitLink's cubin, whatever nvrtc
 * handed to nvJitLink; without nvJitLink what nvrtc writes, and then PTX has to
 * be no newer than the driver, to which compatibility does not extend, and
 * LTO-IR is refused.  A driver that is UNKNOWN while its branch is known counts
 * as the one that the branch began with.
 */
struct lazycuda_combination {
	size_t size;
	int driver;		/* CUDA version */
	int branch;		/* of the display driver; 0: not known */
	int cudart, nvrtc, nvjitlink;
	enum lazycuda_kind carries;	/* what nvrtc hands to nvJitLink: PTX, CUBIN or LTOIR;
					   UNKNOWN: nothing */
	enum lazycuda_policy policy;	/* STRICT: what is unknown is INSUFFICIENT_METADATA;
					   BEST_EFFORT: it passes; OFF: everything passes */
	unsigned flags;		/* LAZYCUDA_LINK_FORWARD_COMPATIBLE, _LTO_ACROSS_MAJORS */
	const char *constraint;	/* on every toolkit library, ">=13.2,<14" */
};

/*
 * The answer, and in `message`, `size` bytes, one line that says why; NULL if
 * nobody wants to know.  A constraint that is none is INCOMPATIBLE and said to
 * be malformed, and where.
 */
enum lazycuda_outcome lazycuda_combine(const struct lazycuda_combination *combination,
				       char *message, size_t size);

/*
 * Which toolkit a library file belongs to, 12090, by the first that tells: the
 * file's own answer (it is loaded for that), CUDA_VERSION in the cuda.h of the
 * tree it lies in, the metadata of the wheel it was installed from.  NONE if
 * nothing tells.  `how`, `size` bytes, says which did, and where.
 */
int lazycuda_toolkit_version(const char *path, char *how, size_t size);

/* ---- carrying it out ---- */

struct lazycuda_link;

struct lazycuda_result {
	size_t size;
	enum lazycuda_code code;
	const char *message;		/* one line */
	size_t input;			/* the offending one, or NO_INDEX */
	const struct lazycuda_plan *plan;	/* NULL if it did not come to one */
	const void *image;		/* NULL unless OK */
	size_t image_length;		/* bytes; PTX has a NUL behind it that is not counted */
	const char *info_log, *error_log;	/* of compiler and linker; "" if there is none */
	const char *backend_call;	/* what failed, "nvJitLinkAddData"; NULL */
	int backend_status;		/* what it returned, as the backend counts; 0 */
};

/*
 * What is installed here, as the stubs find it; loads the libraries and looks
 * at the driver.
 */
struct lazycuda_environment lazycuda_get_environment(void);

/*
 * A link to be filled.  The request is not copied.  `environment` is NULL for
 * what is installed; another one plans for that, and the libraries here still
 * have to be able to carry it out.
 */
struct lazycuda_link *lazycuda_link_new(const struct lazycuda_request *request,
					const struct lazycuda_environment *environment);

/* Adds an input; linked in this order.  0, or -1 if memory ran out. */
int lazycuda_link_add(struct lazycuda_link *link, const struct lazycuda_input *input);

/*
 * Inspects, plans, compiles, links, and looks at what came out.  Never NULL.
 * The result belongs to the link and is the same if it is asked for again.
 *
 * The driver's linker needs a context.  The one that is current in the thread
 * is used; where there is none, the primary context of the request's device is
 * retained for the time of the call.
 */
const struct lazycuda_result *lazycuda_link_run(struct lazycuda_link *link);

/*
 * For whoever loaded the image as `module` (a CUmodule or CUlibrary): calls the
 * setup callbacks of all that was linked, in the order of linking; the teardown
 * callbacks in the opposite order, before it is unloaded.
 */
void lazycuda_link_setup(struct lazycuda_link *link, void *module);
void lazycuda_link_teardown(struct lazycuda_link *link, void *module);

void lazycuda_link_free(struct lazycuda_link *link);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
