/* SPDX-License-Identifier: MIT */
/*
 * stub.h - the interface between generated code and the loader
 *
 * Each stub library is the loader's objects plus one generated file.  The
 * generated file defines `lc_library`, which describes the real library, and
 * `lc_slots`, one pointer for each interface that a caller may import.  An
 * entry point is one jump through its slot.  A slot starts out pointing to its
 * slow function, which asks lc_slow() what to do.
 *
 * Everything here is hidden.  A stub exports the real library's names and the
 * functions of include/lazycuda.h.
 */
#ifndef STUB_H
#define STUB_H

#include <stddef.h>
#include <stdint.h>

/* The first file that make compiles for a stub says so, before what is missing elsewhere. */
#ifndef __GLIBC__
#error "lazycuda needs glibc, as CUDA's own libraries do: musl and others lack what it calls"
#endif

/* -DLC_C_ONLY selects the code for an unknown CPU. */
#if defined(__LP64__) && !defined(LC_C_ONLY)
#if defined(__x86_64__)
#define LC_X86_64
#elif defined(__aarch64__)
#define LC_AARCH64
#endif
#endif

/* What a function in assembly begins with, where a jump to it is checked. */
#if defined(LC_X86_64) && defined(__CET__) && (__CET__ & 1)
#define LC_LANDING "endbr64\n"
#elif defined(LC_AARCH64) && defined(__ARM_FEATURE_BTI_DEFAULT)
#define LC_LANDING "hint #34\n"		/* bti c */
#else
#define LC_LANDING ""
#endif

#define LC_HIDDEN __attribute__((visibility("hidden")))
/* Of a declaration that a macro makes: sources of a stub share what it declares. */
#ifdef LC_EMBEDDED
#define LC_SHARED static
#else
#define LC_SHARED extern
#endif
/* What assembly uses, for who optimizes when he links. */
#define LC_USED __attribute__((used))

/* A toolkit version, 12.9, as 1209: ordered and comparable. */
typedef uint16_t lc_version;
#define LC_VERSION(major, minor) ((lc_version)((major) * 100 + (minor)))
#define LC_MAJOR(version) ((version) / 100)
#define LC_MINOR(version) ((version) % 100)
#define LC_ANY_LATER UINT16_MAX
#define LC_LAST_MINOR 99	/* the highest minor of a version */

/* Why a call was not forwarded.  Indexes lc_library.errors. */
enum lc_refusal {
	LC_NONE,	/* the slot leads to a real function */
	LC_MISSING,	/* no usable library was found */
	LC_ABSENT,	/* the library does not have the name */
	LC_REFUSED,	/* the library has the name with another interface */
	LC_DRIVER,	/* the driver is too old for the library */
	LC_INCOHERENT,	/* the library's major conflicts with another stub's */
	LC_REFUSALS,	/* how many are above: each has a status of its own in lc_library.errors */
	LC_EXCLUDED = LC_REFUSALS,	/* by the user's constraint; its status is that of LC_MISSING */
	LC_ENDING	/* exit() shuts the library down; lc_library.ending is the status for that */
};

/* One major version of the real library. */
struct lc_major {
	int major;
	const char *soname;	/* also its version node */
	const char *folder;	/* below site-packages; several with `:` between them */
	lc_version oldest;	/* the oldest and newest toolkits in the list */
	lc_version newest;
};

/* A name that carries a slot's interface in the versions [from, to]. */
struct lc_provider {
	uint32_t name;		/* offset in lc_library.names */
	uint32_t hash;		/* lc_hash() of it */
	lc_version from, to;
};

/*
 * How a slot is resolved.  Providers are in order of preference: the first whose
 * range contains the loaded version and that the library exports is used.  If
 * there is none, the slot is REFUSED if the library exports `name`, else ABSENT.
 */
struct lc_slot {
	uint32_t name;		/* the name callers use, for messages */
	uint16_t first;		/* providers[first .. first + count) */
	uint16_t count;
};

/* `first` of a slot for callers without a version, where majors differ.  It leads where that of
 * the process's callers does.  `count` is the index of the name's first row in lc_library.exports. */
#define LC_ANY_CALLER UINT16_MAX

/* A name that callers import: those compiled for this major use this slot. */
struct lc_export {
	uint32_t name;
	uint16_t major;
	uint16_t slot;
};

/* A member of the status enumeration. */
struct lc_enumerator {
	uint32_t name;
	int32_t value;
	lc_version from, to;
};

/* A name whose presence proves that a library is at least of this version. */
struct lc_since {
	uint32_t name;
	lc_version version;
};

struct lc_shipped {
	lc_version cuda, version;
};

/* A version of which people say another number: "0.8" for 1.8, "12.7.9" for 12.8. */
struct lc_numbered {
	lc_version version;
	char number[14];
};

typedef void (*lc_function)(void);

/* Returns the function of this name in the library that `data` identifies, or NULL. */
typedef lc_function lc_finder(const char *name, void *data);

/* Returns the version that the library of this major reports; 0 if it reports none. */
typedef lc_version lc_version_look(lc_finder *find, void *data, int major);

/* Serves a slot that the library leaves empty: `function` has the slot's prototype
 * and calls the function of slot `needs`. */
struct lc_adaptor {
	uint16_t slot, needs;
	lc_function function;	/* NULL ends the table */
};

/* A library that the real library opens by name and would not find by itself. */
struct lc_opened {
	int cuda;		/* the CUDA major; 0: any, and the folder is the library's own */
	const char *soname;	/* NULL ends the table */
	const char *folder;	/* below the site-packages that the library lies in */
};

/* A variable that the real library exports beside its functions. */
struct lc_variable {
	const char *name;	/* NULL ends the table */
	void *ours;		/* the stub's own */
	size_t size;
};

/* What callers of one major get for calls that are not forwarded. */
struct lc_errors {
	int major;		/* 0 ends the table */
	int32_t errors[LC_REFUSALS];
};

struct lc_library {
	const char *name;		/* "cudart" */
	const char *stub;		/* SONAME of the stub, "libcudart_stub.so" */
	const char *variable;		/* "LAZYCUDA_CUDART" */
	const char *companion;		/* "libnvrtc-builtins.so.%M.%m" or NULL */
	const struct lc_major *majors;	/* newest first */
	size_t major_count;
	const uint16_t *known_majors;	/* of all libraries in the list, newest first */
	size_t known_major_count;
	int32_t errors[LC_REFUSALS];	/* for callers of the newest major */
	const char *names;		/* the pool that name offsets point into */
	const struct lc_slot *slots;	/* parallel to lc_slots */
	size_t slot_count;
	const struct lc_provider *providers;
	const struct lc_enumerator *enumerators;	/* sorted by value */
	size_t enumerator_count;
	const struct lc_since *since;	/* newest first */
	size_t since_count;
	const struct lc_export *exports;	/* sorted by name in strcmp() order, then major */
	size_t export_count;
	/* For a library without majors, which comes with the driver.  Its only row in
	 * `majors` has major 0, and its names have no version node. */
	const char *witness;		/* a name that it exports; NULL: it has majors */
	const char *const *homes;	/* folders to search last, ending with NULL */
	uint8_t own_majors;	/* its majors are not CUDA's */
	uint8_t by_soname;	/* it has no version node named like its SONAME */
	/* With own_majors: parallel to `majors`, the CUDA majors that a SONAME belongs to, a bit
	 * for each; NULL: the library goes with any. */
	const uint32_t *cuda;
	const struct lc_opened *opens;		/* NULL: none */
	const struct lc_errors *older_errors;	/* NULL: callers of every major get `errors` */
	int32_t ending;			/* the status for LC_ENDING; 0: that for LC_MISSING */
	const uint16_t *releases;	/* slots of functions that give something back */
	size_t release_count;
	int32_t released;		/* what these return then */
	const struct lc_variable *variables;	/* NULL: none */
	/* With own_majors: the version that each CUDA ships, oldest first. */
	const struct lc_shipped *ships;
	size_t ship_count;
	const struct lc_numbered *called;
	size_t called_count;
};

/* Returns true if a version belongs to this major.  All versions belong to major 0. */
static inline int lc_is_of(lc_version version, const struct lc_major *major)
{
	return !major->major || LC_MAJOR(version) == major->major;
}

static inline int lc_has_majors(const struct lc_library *library)
{
	return !library->witness;
}

/* Returns true if the library's CUDA is chosen together with those of other stubs. */
static inline int lc_is_coordinated(const struct lc_library *library)
{
	return lc_has_majors(library) && (!library->own_majors || library->cuda);
}

/* Returns true if version nodes identify the real library and the interfaces of its names. */
static inline int lc_has_nodes(const struct lc_library *library)
{
	return lc_has_majors(library) && !library->by_soname;
}

/* The word before a major in messages. */
static inline const char *lc_major_word(const struct lc_library *library)
{
	return library->own_majors ? "major" : "CUDA";
}

#endif
