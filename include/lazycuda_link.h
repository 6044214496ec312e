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
 * of every field.  LAZYCUDA_LINK_OPTIONS() sets `size`.  A field that only a newer header has is
 * refused unless it is zero.  In structs that the library fills, `size` says how much of it is
 * filled.  Structs that begin with `size` may grow at their end; others, and
 * lazycuda_environment, which is returned by value, never do.
 *
 * Versions are CUDA's own numbers, 1000 * major + 10 * minor: 12090 is 12.9.
 */
#ifndef LAZYCUDA_LINK_H
#define LAZYCUDA_LINK_H

#if !defined(__linux__) || !defined(__LP64__)
#error "lazycuda is for 64-bit Linux: elsewhere leave it out, and link CUDA's own libraries"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)	/* also in a program built with hidden names */
#endif

/*
 * A struct that the caller fills, with its size and the fields that are named:
 *
 *	LAZYCUDA_LINK_OPTIONS(lazycuda_request, request, .arch = "sm_90", .lto = 1);
 *
 * C++ wants the fields in the order of the struct; before C++20, only an extension names them.
 */
#ifdef __cplusplus
#define LAZYCUDA_LINK_OPTIONS(type, name, ...) \
	struct type name = __extension__ (struct type){ .size = sizeof(struct type), __VA_ARGS__ }
#else
#define LAZYCUDA_LINK_OPTIONS(type, name, ...) \
	struct type name = { .size = sizeof(struct type), __VA_ARGS__ }
#endif

#define LAZYCUDA_VERSION_NONE 0		/* not installed; of what made an input: not known */
#define LAZYCUDA_VERSION_UNKNOWN (-1)	/* installed, but nobody knows which */

/* ---- what the bytes are ---- */

enum lazycuda_kind {
	LAZYCUDA_KIND_UNKNOWN = 0,	/* as a declared kind: go by the content */
	LAZYCUDA_KIND_PTX = 1,
	LAZYCUDA_KIND_CUBIN = 2,	/* an ELF file for the device */
	LAZYCUDA_KIND_LTOIR = 3,
	LAZYCUDA_KIND_FATBIN = 4,	/* one container, or several in a row */
	LAZYCUDA_KIND_OBJECT = 5,	/* a host object, with device code or without */
	LAZYCUDA_KIND_ARCHIVE = 6,	/* a static library of such objects */
	LAZYCUDA_KIND_SHARED = 7,	/* a host shared library or executable */
	LAZYCUDA_KIND_SOURCE = 8,	/* CUDA C++ */
	/* Recognised, and refused by name, because no linker here takes them.  Three are taken:
	 * offload binaries; LLVM IR, which libnvvm compiles first; and Tile IR, of which tileiras
	 * makes an image. */
	LAZYCUDA_KIND_THIN_ARCHIVE = 9,	/* names files that lie elsewhere */
	LAZYCUDA_KIND_BITCODE = 10,	/* LLVM IR as bitcode, which is not LTO-IR */
	LAZYCUDA_KIND_OFFLOAD = 11,	/* LLVM's offload binary, or several: a container of code */
	LAZYCUDA_KIND_OPTIXIR = 12,
	LAZYCUDA_KIND_TILEIR = 13,
	LAZYCUDA_KIND_LLVMIR = 14,	/* LLVM IR as text, NVVM IR included */
	LAZYCUDA_KIND_BUNDLE = 15,	/* clang's offload bundle, which is HIP's and old */
};

/* "ptx", "cubin", "ltoir", "fatbin", "object", "archive", "shared", "source",
 * "thin archive", "bitcode", "offload binary", "optixir", "tileir", "llvm ir",
 * "offload bundle", "unknown". */
const char *lazycuda_kind_name(enum lazycuda_kind kind);

/* Flags of an entry. */
#define LAZYCUDA_ENTRY_RELOCATABLE	0x001u	/* may be linked with others */
#define LAZYCUDA_ENTRY_LINKED		0x002u	/* a cubin that is linked (ET_EXEC) */
#define LAZYCUDA_ENTRY_LZ4		0x004u	/* compressed */
#define LAZYCUDA_ENTRY_ZSTD		0x008u	/* compressed */
#define LAZYCUDA_ENTRY_OBFUSCATED	0x010u	/* compressed LTO-IR that only nvJitLink reads */
#define LAZYCUDA_ENTRY_DEBUG		0x020u	/* made for debugging */
#define LAZYCUDA_ENTRY_UNSEEN		0x040u	/* compressed and not unpacked: only what
						   the fatbin's header says is known */
#define LAZYCUDA_ENTRY_OVER_LIMIT	0x080u	/* would unpack to more than the limit */
#define LAZYCUDA_ENTRY_NOT_ASCII	0x100u	/* PTX with other bytes in a comment */
#define LAZYCUDA_ENTRY_NO_ROOT		0x200u	/* PTX or a relocatable cubin whose symbols were
						   read, without a kernel and without a variable
						   that others see: linked alone, it is empty.
						   Also Tile IR whose only kernel is nvcc's, which
						   does nothing */
#define LAZYCUDA_ENTRY_LIBDEVICE	0x400u	/* LLVM IR as text that was read, and that
						   declares functions of libdevice, __nv_* */
#define LAZYCUDA_ENTRY_NO_LAYOUT	0x800u	/* LLVM IR as text that was read, without a data
						   layout, or with an empty one */
#define LAZYCUDA_ENTRY_LISTED		0x1000u	/* LLVM IR as text that was read, and whose list
						   @llvm.used has each of its kernels, and each
						   variable that others see; it needs no list if it
						   has none of these */
#define LAZYCUDA_ENTRY_32_BIT		0x2000u	/* PTX with addresses of 32 bits */
#define LAZYCUDA_ENTRY_NO_DEBUG_INFO	0x4000u	/* PTX for debugging whose symbols were read, without
						   a section, as debug information is in */

/* Flags of a symbol. */
#define LAZYCUDA_SYMBOL_UNLISTED 0x1	/* of LLVM IR: a kernel, or a variable that others see, that
					   its list @llvm.used lacks */
#define LAZYCUDA_SYMBOL_VARIABLE 0x2	/* a definition that is no function */

/* A symbol of an entry that other inputs can see. */
struct lazycuda_symbol {
	const char *name;	/* as in the code: mangled */
	uint32_t hash;		/* of the name; differs from one run of a program to
				   the next.  If you make symbols yourself, any hash
				   will do that is the same for the same name */
	unsigned char defined;	/* 0: the entry needs it from elsewhere */
	unsigned char weak;	/* may be defined more than once */
	unsigned char kernel;
	unsigned char flags;	/* LAZYCUDA_SYMBOL_* */
};

/* One piece of device code. */
struct lazycuda_entry {
	size_t size;
	enum lazycuda_kind kind;	/* PTX, CUBIN or LTOIR, or a kind that is refused;
					   UNKNOWN: a fatbin entry of no known kind */
	int arch;			/* 90 for sm_90; 0: not known */
	char suffix;			/* 'a', 'f' or 0; 'f' is visible in PTX and fatbins only */
	int toolkit;			/* the toolkit that made it, 12090; 0: not known */
	int isa;			/* PTX: 10 * major + minor, 88 for 8.8; else 0 */
	int level;			/* LTO-IR: 0 linked by nvJitLink, 1 from a compiler,
					   2 OptiX; -1: not known */
	/* LTO-IR: the versions in its header, as major * 1000 + minor; 0: not known */
	int container, ir, debug, llvm;
	int abi;			/* cubin: ELF ABI version, 7 or 8; else 0 */
	unsigned flags;
	const char *error;		/* NULL, or why it cannot be used */

	const char *member;		/* of an archive; NULL */
	const char *section;		/* of a host file; NULL */
	int fatbin;			/* which container of the file, from 0: a fatbin, or the
					   images of one source in an offload binary; -1: none */
	uint64_t header;		/* where the fatbin entry begins in the file; equal
					   to `offset` if there is no fatbin */
	uint64_t offset, length;	/* the payload in the file, as stored, in bytes */
	uint64_t unpacked;		/* its size when unpacked, in bytes */

	/* Of PTX, relocatable cubins and LLVM IR as text, if read. */
	const struct lazycuda_symbol *symbols;
	size_t symbol_count;
};

struct lazycuda_inspection {
	size_t size;			/* bytes of this struct that are filled */
	enum lazycuda_kind kind;
	const char *name;		/* as given */
	const char *error;		/* NULL, or what is wrong with the file, and where:
					   "fatbin at 0x40: entry 2 ends past the file" */
	const char *warning;		/* NULL, or that a library is missing to unpack some of the
					   code, or that an image is not CUDA's */
	const struct lazycuda_entry *const *entries;	/* in the order of the file, but images of
							   one source beside each other */
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
 * A damaged file gives an inspection with `error`, and no entries beyond the
 * damage; a file without device code is of kind UNKNOWN, without an error.
 * Compressed entries are unpacked with liblz4.so.1 and libzstd.so.1, which are
 * loaded when they are first needed; without them such entries stay UNSEEN.
 */
struct lazycuda_inspection *lazycuda_inspect(const void *bytes, size_t length,
					     const char *name, unsigned flags);

/* lazycuda_inspect() for a file, which stays open until the inspection is freed.  It is read,
 * not mapped: a file that is truncated meanwhile causes an error, not a signal.
 * A file that cannot be read gives an inspection with `error`. */
struct lazycuda_inspection *lazycuda_inspect_file(const char *path, unsigned flags);

struct lazycuda_input;

/*
 * lazycuda_inspect() for the bytes or the path of an input.  `unpack_limit` is the number of
 * bytes to which all compressed code of the file may unpack; 0 is the limit of the
 * functions above: 32 times the length of the file, and at least 256 MiB.  An entry
 * that would exceed the limit has an error and the flag OVER_LIMIT, and is not
 * unpacked; later entries are, if they are small enough.  Content of no known kind counts
 * as LLVM IR if the input declares it to be LLVMIR.
 */
struct lazycuda_inspection *lazycuda_inspect_input(const struct lazycuda_input *input,
						   unsigned flags, uint64_t unpack_limit);

void lazycuda_inspection_free(struct lazycuda_inspection *inspection);

/*
 * Returns a copy of an entry's code: PTX followed by a NUL that *length does not
 * count, a cubin, or LTO-IR; unpacked if `unpack`, else as it is stored.  Free it
 * with free().  On failure returns NULL, sets *length to 0 and *error, unless `error`
 * is NULL, to the reason, a text that must not be freed.
 */
void *lazycuda_entry_payload(const struct lazycuda_inspection *inspection, size_t entry,
			     int unpack, size_t *length, const char **error);

/*
 * Returns a copy of a fatbin that holds this entry alone, as it is stored, for code
 * that only nvJitLink can unpack.  Errors as above, also for an entry that is in no
 * fatbin.
 */
void *lazycuda_entry_fatbin(const struct lazycuda_inspection *inspection, size_t entry,
			    size_t *length, const char **error);

/* ---- the decision ---- */

/* What is installed.  Each field but the branch is a version, NONE or UNKNOWN. */
struct lazycuda_environment {
	size_t size;
	int driver;		/* the CUDA version it supports */
	int branch;		/* of the display driver, 580; 0: not known */
	int nvjitlink;
	int nvrtc;
	int no_device;		/* not 0: the driver has no device that it could use, so it links
				   nothing, and need not load the result; 0: it has, or nobody asked */
};

/*
 * Reads what a user says of a driver: the CUDA version that it supports, "12.4"; its own version,
 * "550", "550.120" or "535.309.01", whose branch tells the CUDA version that it came with; "none";
 * or "unknown".  A first number of 100 or more is a branch.  Returns 0, and sets *version and
 * *branch, 0 for none; or -1 for any other text.
 */
int lazycuda_read_driver(const char *text, int *version, int *branch);

/* What else is installed: tried in this order if the environment does not fit a link. */
struct lazycuda_others {
	size_t size;
	const int *nvjitlinks;	/* versions */
	size_t nvjitlink_count;
	const int *nvrtcs;
	size_t nvrtc_count;
	/* All libnvvms that are installed, for LLVM IR, which is compiled by the one that fits the
	 * linker best; and for each the libdevice that goes with it, NONE if there is none.  If
	 * `libdevices` is NULL, there are none. */
	const int *nvvms;
	const int *libdevices;
	size_t nvvm_count;
	/* All tileirases that are installed, for Tile IR. */
	const int *tileirases;
	size_t tileiras_count;
};

enum lazycuda_policy {
	LAZYCUDA_POLICY_BEST_EFFORT = 0,	/* whatever is sure to work; in a link without an
						   environment, what LAZYCUDA_GUARD says */
	LAZYCUDA_POLICY_STRICT = 1,		/* the matrix of cuda-python #1911; LTO-IR alone needs nvJitLink */
	LAZYCUDA_POLICY_OFF = 2			/* nvJitLink whenever there is one */
};

enum lazycuda_output {
	LAZYCUDA_OUTPUT_CUBIN = 0,	/* an image to load */
	LAZYCUDA_OUTPUT_PTX = 1,	/* after link-time optimisation */
	LAZYCUDA_OUTPUT_RELOCATABLE = 2,	/* a cubin to be linked again */
	LAZYCUDA_OUTPUT_LTOIR = 3	/* to be linked again with optimisation; as in a
					   relocatable cubin, names may stay undefined */
};

/* Flags of an input. */
#define LAZYCUDA_INPUT_MAIN 0x1u	/* the program itself; what it declares as
					   external decides on support modules */

#define LAZYCUDA_INPUT_LIBRARY 0x2u	/* LLVM IR that other LLVM IR calls: libnvvm takes of it
					   what each program among the inputs needs, as it does of
					   libdevice, and compiles no more.  Nothing else sees it */

/*
 * One thing to link.  Set either `bytes` or `path`.  Nothing is copied: all of it
 * has to stay as it is until the link or the plan is freed.
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
	/* For lazycuda_plan(), made with LAZYCUDA_INSPECT_PAYLOADS.  lazycuda_link_run()
	 * inspects inputs without an inspection. */
	const struct lazycuda_inspection *inspection;
	/* Of source: C++ expressions, "&scale<float>", for what it has to define.  Each is
	 * instantiated, and lazycuda_result.lowered_names has its name in the code. */
	const char *const *name_expressions;
	size_t name_expression_count;
	/* Of source: headers that it may include and that are not files, as nvrtcCreateProgram()
	 * takes them: the name in the #include, "detail/math.h", each once, and the text. */
	const char *const *include_names;
	const char *const *headers;
	size_t header_count;
};

/*
 * A module of helper functions (numba's NRT is the model).  It is linked, once,
 * if it is enabled and either a MAIN input that is PTX, a cubin or source declares
 * one of its functions as external, or some input that is linked has its bit in
 * `needs`.  What source declares is seen only after it is compiled, so a plan does not
 * know it; source that is compiled to LTO-IR, which shows no names, is compiled to PTX
 * as well.  Only MAIN inputs are searched.
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
#define LAZYCUDA_LINK_NO_SUPPORT	0x8u	/* no support module is enabled for this link */
#define LAZYCUDA_LINK_IGNORE_NON_LTO	0x10u	/* optimise at link time, and leave out what
						   cannot take part in that: inputs, entries and
						   support modules that are not LTO-IR.  A note
						   names them */
#define LAZYCUDA_LINK_IGNORE_TILE	0x20u	/* leave out Tile IR, of source or in a container,
						   beside other code.  A note names it */
#define LAZYCUDA_LINK_TILE_ONLY		0x40u	/* the image is that of the Tile IR, which tileiras
						   makes: all else is left out.  A note names it */
#define LAZYCUDA_LINK_ISOLATED		0x100u	/* compiler and linker run in a process of their
						   own, and their crash is a result.  It is the
						   command `lazycuda`, which has to be installed
						   with this library */

/* Settings that are given once, and passed to compiler and linker in the spelling of each and of
 * its version: docs/reference/linking.md.  If a tool lacks one, the link is refused: OPTION_UNSUPPORTED. */
enum lazycuda_setting_kind {
	LAZYCUDA_SETTING_LINEINFO = 1,	/* lines of the source, for profilers; 1 */
	LAZYCUDA_SETTING_DEBUG = 2,	/* code for a debugger, not optimised; 1 */
	LAZYCUDA_SETTING_OPTIMIZE = 3,	/* level of the linker, 0 to 4; nvJitLink has 0 and 3 */
	LAZYCUDA_SETTING_MAX_REGISTERS = 4,	/* of a thread */
	LAZYCUDA_SETTING_FAST_MATH = 5,	/* 1: ftz and fma, without prec_div and prec_sqrt, except
					   where one of these settings says otherwise */
	LAZYCUDA_SETTING_FTZ = 6,	/* 1: denormal numbers are 0 */
	LAZYCUDA_SETTING_PREC_DIV = 7,	/* 0: division is approximate */
	LAZYCUDA_SETTING_PREC_SQRT = 8,	/* 0: square roots are approximate */
	LAZYCUDA_SETTING_FMA = 9,	/* 0: no fused multiply-add */
	LAZYCUDA_SETTING_FAST_COMPILE = 10,	/* 0 to 3: none, min, mid, max */
	LAZYCUDA_SETTING_SPLIT_COMPILE = 11	/* threads to compile with; 0: one for each CPU */
};

struct lazycuda_setting {
	enum lazycuda_setting_kind kind;
	int value;			/* of those that are 1: 0 leaves the setting out */
};

#define LAZYCUDA_NO_LIMIT UINT64_MAX

/* What a text for the log callback is. */
enum lazycuda_log {
	LAZYCUDA_LOG_NOTE = 0,	/* of the plan: a warning, which stops nothing */
	LAZYCUDA_LOG_INFO = 1,	/* what compiler or linker said; a compiler's warnings, too */
	LAZYCUDA_LOG_ERROR = 2	/* what one that failed said, behind a line with the reason */
};

struct lazycuda_request {
	size_t size;
	const char *arch;		/* "sm_90", "sm_90a"; "compute_90" for PTX output.  NULL or
					   "native", where no environment is given: that of the
					   current context's GPU or, without one, of `device`.
					   "from-inputs:sm_120": that, or sm_120f or sm_120a where
					   inputs need it; "from-inputs": so with "native" */
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
	int device;			/* the driver's linker needs a context: if none is
					   current, it uses this device's primary one */
	uint64_t unpack_limit;		/* for each input that lazycuda_link_run() inspects, as
					   for lazycuda_inspect_input() */
	const struct lazycuda_others *others;	/* what else may be used; NULL: nothing, except
						   for a link without an environment, which
						   uses what is installed */
	/* For an isolated link: */
	uint64_t time_limit;	/* for compiler and linker together, in milliseconds; 0: ten minutes */
	uint64_t memory_limit;	/* for each, in bytes, beyond what loading it needs; 0: none.
				   Linux 4.7 and later */
	/*
	 * NULL, or a callback: it gets notes as soon as there is a plan, and logs as soon as
	 * compiler or linker is done, nothing twice in one link.  The result has the same texts.
	 * `input` is the index of the source that was compiled, or of the input that the linker
	 * failed at, else NO_INDEX.  The text has one or more lines, and lives as long as the
	 * link.
	 *
	 * It is called in the thread that is in lazycuda_link_run(), also for an isolated link,
	 * with no lock held, and so at the same time by links in several threads.  It may do
	 * anything, even make other links, but for its own link may call nothing except
	 * lazycuda_link_cancel().  It has to return: no longjmp(), no C++ exception.
	 */
	void (*log)(void *data, enum lazycuda_log kind, size_t input, const char *text);
	void *log_data;
	/* Each kind at most once.  One that is in `options` or `compile_options`, too, is
	 * BAD_OPTION. */
	const struct lazycuda_setting *settings;
	size_t setting_count;
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
	LAZYCUDA_CODE_UNSUPPORTED_KIND = 12,		/* OptiX-IR, a thin archive, ... */
	LAZYCUDA_CODE_KIND_MISMATCH = 13,		/* declared as something else */
	LAZYCUDA_CODE_NO_DEVICE_CODE = 14,		/* a host file without any */
	LAZYCUDA_CODE_NO_USABLE_ENTRY = 15,		/* nothing in it for target and linker */
	LAZYCUDA_CODE_LINKED_CUBIN = 16,		/* linked already: would be dropped */
	LAZYCUDA_CODE_DUPLICATE_SYMBOL = 17,
	LAZYCUDA_CODE_CANNOT_UNPACK = 18,		/* compressed, and nothing unpacks it */
	LAZYCUDA_CODE_UNPACK_LIMIT = 19,		/* compressed, and larger than the limit */
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
	LAZYCUDA_CODE_NVVM_REQUIRED = 40,		/* libnvvm, for LLVM IR */
	LAZYCUDA_CODE_NVVM_TOO_NEW = 41,		/* newer than what links its output */
	LAZYCUDA_CODE_LIBDEVICE_REQUIRED = 42,
	LAZYCUDA_CODE_TILEIRAS_REQUIRED = 43,		/* for Tile IR, of this version or later */
	/* carrying it out */
	LAZYCUDA_CODE_COMPILE_FAILED = 50,		/* nvrtc, libnvvm or tileiras refused it: see
							   the log */
	LAZYCUDA_CODE_LINK_FAILED = 51,			/* the linker refused; see the log */
	LAZYCUDA_CODE_UNDEFINED_SYMBOL = 52,		/* the linker misses a definition */
	LAZYCUDA_CODE_BAD_IMAGE = 53,			/* unusable, despite a success */
	LAZYCUDA_CODE_BACKEND_MISSING = 54,		/* the plan's backend cannot be loaded */
	LAZYCUDA_CODE_DRIVER_FAILED = 55,		/* no device, no context */
	LAZYCUDA_CODE_NO_MEMORY = 56,
	/* an isolated link */
	LAZYCUDA_CODE_CRASHED = 60,			/* compiler or linker ended its process */
	LAZYCUDA_CODE_TIME_LIMIT = 61,
	LAZYCUDA_CODE_MEMORY_LIMIT = 62,
	LAZYCUDA_CODE_CANCELLED = 63,			/* by lazycuda_link_cancel() */
	LAZYCUDA_CODE_NO_CHILD = 64			/* the process was not started,
							   or ended before it had the job */
};

/* "LTOIR_TOO_NEW"; "OK"; NULL for any other number. */
const char *lazycuda_code_name(enum lazycuda_code code);

enum lazycuda_backend {
	LAZYCUDA_BACKEND_NONE = 0,	/* refused */
	LAZYCUDA_BACKEND_NVJITLINK = 1,
	LAZYCUDA_BACKEND_DRIVER = 2,
	LAZYCUDA_BACKEND_NVRTC = 3,	/* of source alone nvrtc makes the image, or LTO-IR */
	LAZYCUDA_BACKEND_TILEIRAS = 4	/* of Tile IR */
};

/* In what form an entry is handed to the backend. */
enum lazycuda_form {
	LAZYCUDA_FORM_AS_IS = 0,	/* the payload, as it is stored */
	LAZYCUDA_FORM_UNPACKED = 1,	/* the payload, unpacked, and PTX's comments in ASCII */
	LAZYCUDA_FORM_FATBIN = 2,	/* in a fatbin of its own: lazycuda_entry_fatbin() */
	LAZYCUDA_FORM_COMPILED = 3	/* source, compiled by nvrtc first; LLVM IR, by libnvvm */
};

#define LAZYCUDA_NO_INDEX ((size_t)-1)

/* One thing that is given to the backend. */
struct lazycuda_step {
	size_t size;
	size_t input;			/* index; NO_INDEX: support module `support` */
	size_t support;			/* index; NO_INDEX: an input.  If it equals the request's
					   support_count: libcudadevrt.a, which the link added */
	size_t entry;			/* of its inspection; NO_INDEX: all of it, which is compiled */
	enum lazycuda_form form;
	enum lazycuda_kind kind;	/* what the backend is told it is: PTX, CUBIN, LTOIR,
					   FATBIN or TILEIR; of NVRTC, what it makes */
	const char *name;		/* for the backend's logs */
	const char *reason;		/* why this entry, one line */
};

/* An option of cuLinkCreate that is a number; buffers are the handle's. */
struct lazycuda_jit_option {
	int option;			/* CUjit_option */
	unsigned value;
	const char *name;		/* "CU_JIT_TARGET" */
};

/* A name that stops a link. */
struct lazycuda_symbol_error {
	size_t size;
	const char *name;		/* as in the code: mangled */
	int twice;			/* 1: it is defined twice; 0: nothing defines it */
	size_t input;			/* that needs it, or defines it first */
	size_t other;			/* that defines it, too.  NO_INDEX in either: a support
					   module, or nobody knows */
};

struct lazycuda_plan {
	size_t size;
	enum lazycuda_backend backend;
	enum lazycuda_code code;	/* OK if there is a backend */
	const char *rule;		/* the row of the table that decided: "B11"; NULL: none did */
	size_t input;			/* the offending one, or NO_INDEX */
	const char *have;		/* what it is, "LTO-IR of CUDA 12.5"; NULL */
	const char *need;		/* what would be needed, "nvJitLink 12.5 or later"; NULL */
	const char *message;		/* one line: why so, or why not and what to do */
	int lto;			/* whether -lto is given */
	const char *const *options;	/* for nvJitLinkCreate, or the driver's options in
					   words */
	size_t option_count;
	const struct lazycuda_jit_option *jit_options;	/* for cuLinkCreate */
	size_t jit_option_count;
	const char *const *compile_options;	/* for nvrtcCompileProgram */
	size_t compile_option_count;
	enum lazycuda_kind compile_to;	/* by nvrtc: PTX, LTOIR, CUBIN or TILEIR; UNKNOWN: no
					   source */
	const struct lazycuda_step *const *steps;	/* in the order of linking */
	size_t step_count;
	const char *const *notes;	/* options that were dropped, leaks of this version, ... */
	size_t note_count;
	int nvjitlink, nvrtc;		/* the ones that this plan is for, of the environment or of
					   the request's others; a version, NONE or UNKNOWN.  A
					   plan for what is here asks for nvrtc, and so has
					   one, only if nvJitLink does not take all as it is */
	const char *choice;		/* why it is for these; NULL: they are the only ones, or
					   the first of their kind */
	const struct lazycuda_symbol_error *const *symbol_errors;	/* DUPLICATE_SYMBOL: all */
	size_t symbol_error_count;
	/* Of LLVM IR, which libnvvm compiles: */
	int nvvm;			/* the one of the request's others; NONE: there is no LLVM IR */
	const char *const *nvvm_options;	/* for nvvmCompileProgram */
	size_t nvvm_option_count;
	enum lazycuda_kind nvvm_to;	/* PTX; LTOIR in a link with optimisation, if nvJitLink
					   takes libnvvm's */
	const char *arch;		/* the target, of the request or chosen from the inputs;
					   NULL if the request names none */
	int tileiras;			/* of TILEIRAS: the one of the request's others */
};

/*
 * Decides how to link.  A pure function: the same arguments give the same plan, in
 * any thread and on any machine.  Every input needs an inspection, except source,
 * whose kind may be declared instead.  Source and LLVM IR are planned as what they are
 * compiled to.
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
 * Whether these versions may work together.  A version of NONE is left out.  These are
 * the rules; the first that does not hold is the answer:
 *
 *   constraint	cudart, nvrtc and nvJitLink satisfy it; it does not concern the
 *		driver
 *   pipeline	nvJitLink is not older than nvrtc, whose output it links; LTO-IR
 *		is of its own major
 *   driver	it is not older than a library whose output it runs: it is as new,
 *		or of the same major, with a display driver of a branch that has
 *		minor-version compatibility for that major (450 and later for 11,
 *		525 for 12, 580 for 13)
 *
 * The driver runs the last output: nvJitLink's cubin, whatever nvrtc passed to
 * nvJitLink; or without nvJitLink, what nvrtc writes.  In that case PTX must not be
 * newer than the driver, since compatibility does not extend to PTX, and LTO-IR is
 * refused.  If the driver is UNKNOWN and its branch is known, the driver counts as
 * the first of the branch.
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
 * Returns the answer, and writes one line that says why to the `size` bytes of
 * `message`, unless that is NULL.  A malformed constraint is INCOMPATIBLE, and the
 * message says where the error is.
 */
enum lazycuda_outcome lazycuda_combine(const struct lazycuda_combination *combination,
				       char *message, size_t size);

/*
 * Returns the toolkit that a library file belongs to, 12090, or NONE if that cannot
 * be found out.  Asks the file itself, which is loaded for that; then the metadata
 * of the wheel that it was installed from: the version of a wheel of
 * NVIDIA's whose version is the toolkit's, else what the wheel requires exactly,
 * "Requires-Dist: cuda-toolkit==13.2.*"; then CUDA_VERSION in the cuda.h of the tree
 * that the file is in; then the tree's version.json.  UNKNOWN if several wheels list the file and
 * say different versions, which lazycuda_combine() takes for insufficient metadata.
 * Writes to the `size` bytes of `how` which of these gave the answer.
 */
int lazycuda_toolkit_version(const char *path, char *how, size_t size);

/* A part of CUDA that goes with a library. */
struct lazycuda_component {
	const char *name;	/* "nvrtc-builtins", "headers", "cccl", "cudadevrt", "libdevice",
				   "libnvvm", "nvcc", "tileiras", "nccl_device",
				   "nvshmem_device" */
	const char *path;	/* for headers, that of cuda.h, for CCCL, of cub/version.cuh; NULL: it
				   is not where the library's toolkit, wheel or conda prefix has it */
	int version;		/* of the toolkit that it belongs to; NONE or UNKNOWN if that cannot
				   be found out */
	int fits;		/* 1: its version goes with the library's; 0: it does not; -1: that
				   is not known, or it is not there */
	const char *relation;	/* one line: what has to hold, and what does; or which package has
				   it */
};

struct lazycuda_components {
	size_t size;
	const char *library;	/* its file; NULL: there is none */
	int version;		/* of the library, as lazycuda_toolkit_version() says */
	const struct lazycuda_component *list;
	size_t count;
	/* Folders: of headers, in the order in which nvrtc is told to search them, and of programs. */
	const char *const *includes;
	size_t include_count;
	const char *const *bins;
	size_t bin_count;
};

/*
 * Finds what goes with a library file, whatever it is: nvrtc's builtins, which have to be
 * of its own version; the headers, CCCL, cudadevrt, libnvvm and nvcc, of its major and not newer;
 * tileiras, of its major and not older; libdevice, of its major; and the device libraries of NCCL
 * and NVSHMEM, whose versions are their own.  No component is loaded.  The list is empty if there is no such file.  Returns NULL if memory
 * ran out; the caller frees the result.
 */
struct lazycuda_components *lazycuda_find_components(const char *path);
void lazycuda_components_free(struct lazycuda_components *components);

/* ---- carrying it out ---- */

struct lazycuda_link;

/* What a name expression of an input is called in the code. */
struct lazycuda_lowered_name {
	size_t size;
	size_t input;			/* NO_INDEX: a support module */
	const char *expression;		/* as given */
	const char *name;		/* mangled */
};

struct lazycuda_result {
	size_t size;
	enum lazycuda_code code;
	const char *message;		/* one line */
	size_t input;			/* the offending one, or NO_INDEX */
	const struct lazycuda_plan *plan;	/* NULL if there was no plan */
	const void *image;		/* NULL unless OK */
	size_t image_length;		/* bytes; the NUL that follows PTX is not counted */
	const char *info_log, *error_log;	/* of compiler and linker; "" if there is none.  What
						   failed says so in the first line of its log */
	const char *backend_call;	/* what failed, "nvJitLinkAddData"; NULL */
	int backend_status;		/* the backend's own number for what it returned; 0 */
	/* DUPLICATE_SYMBOL, UNDEFINED_SYMBOL: all that are known; in LTO-IR, what the log names */
	const struct lazycuda_symbol_error *const *symbol_errors;
	size_t symbol_error_count;
	/* of all that was compiled, as far as the image has them; a note names the rest */
	const struct lazycuda_lowered_name *const *lowered_names;
	size_t lowered_name_count;
};

/*
 * Returns what is installed here, as the stubs find it.  Loads the libraries and looks
 * at the driver.
 */
struct lazycuda_environment lazycuda_get_environment(void);

/* lazycuda_find_components() for the nvrtc of that environment or, where there is none, for its
 * nvJitLink. */
struct lazycuda_components *lazycuda_get_components(void);

/*
 * Returns the nvJitLinks and nvrtcs that the stubs' search has found, that the stubs do not use
 * and that lazycuda_is_allowed() allows: one of each version.  If a variable names the file of
 * one of the two, there are no others of it.  Opens them.  Also returns the libnvvms that go with
 * any nvJitLink or nvrtc that was found, or the one that LAZYCUDA_NVVM names, and the tileirases that
 * go with them; these are not opened.  The result belongs to the library; NULL if memory ran out.
 */
const struct lazycuda_others *lazycuda_get_others(void);

/*
 * Decides how lazycuda_link_run() would link here: lazycuda_plan() for what is installed, with
 * lazycuda_get_others() in place of the request's others, and with LAZYCUDA_GUARD and
 * LAZYCUDA_FORWARD_COMPATIBLE; an invalid value of these is BAD_REQUEST.  Loads the
 * libraries as lazycuda_get_environment() does.  Calls cuInit() if a plan with the driver's linker
 * would be another without a device; never for an isolated link.  Freed with
 * lazycuda_plan_free(); NULL if memory ran out.
 */
struct lazycuda_plan *lazycuda_plan_here(const struct lazycuda_request *request,
					 const struct lazycuda_input *const *inputs,
					 size_t input_count);

/*
 * Returns a link without inputs.  The request is not copied.  If `environment` is
 * NULL, plans for what is installed; otherwise plans for `environment`, and the
 * libraries here still have to be able to carry the plan out.  If memory runs out,
 * it returns NULL, which all functions of a link take: they report NO_MEMORY.
 */
struct lazycuda_link *lazycuda_link_new(const struct lazycuda_request *request,
					const struct lazycuda_environment *environment);

/*
 * Adds an input; inputs are linked in the order of these calls.  Returns OK; NO_MEMORY; BAD_REQUEST
 * after lazycuda_link_run(), and for an input that makes no sense, whatever a file has in it; or
 * BAD_INPUT for one without path and bytes.  lazycuda_link_run() then refuses it, too, and says in
 * words what is wrong: a caller may leave the code to it.
 */
enum lazycuda_code lazycuda_link_add(struct lazycuda_link *link, const struct lazycuda_input *input);

/*
 * Returns a key for caches of images, 64 hexadecimal digits that live as long as the link; or NULL,
 * where lazycuda_link_run() says why it has no image, or has run.  Equal keys mean equal inputs,
 * names, options and decisions, by the same version of this library and the same versions (major and
 * minor) of all tools that take part.  Files that source includes are not in it: give such
 * headers to the input, or add to the key what they depend on.  Links nothing.
 */
const char *lazycuda_link_key(struct lazycuda_link *link);

/*
 * Inspects, plans, compiles, links, and checks the image.  Never returns NULL.  The
 * result belongs to the link; a second call returns the same result.
 *
 * The driver's linker needs a context.  It uses the one that is current in the
 * thread; if there is none, the primary context of the request's device is retained
 * for the time of the call.
 */
const struct lazycuda_result *lazycuda_link_run(struct lazycuda_link *link);

/*
 * Ends an isolated link: from any thread while another one is in lazycuda_link_run(),
 * which then returns CANCELLED, or before it.  The link must live until this returns.
 * Returns 0, or -1 if the link is not isolated, and so cannot be ended.
 */
int lazycuda_link_cancel(struct lazycuda_link *link);

/*
 * Call these after the image was loaded as `module` (a CUmodule or CUlibrary), and
 * before it is unloaded.  They call the setup callbacks of all linked inputs in the
 * order of linking, and the teardown callbacks in the opposite order.
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
