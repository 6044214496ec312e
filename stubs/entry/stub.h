/* SPDX-License-Identifier: MIT */
/*
 * stub.h - what generated code and the loader know of each other
 *
 * Each stub library is the loader's objects plus one generated file.  The
 * generated file defines `lc_library`, which describes the real library, and
 * `lc_slots`, one pointer for each interface that a caller may ask for.  An
 * entry point is one jump through its slot.  A slot starts out at its slow
 * function, which asks lc_slow() what to do.
 *
 * Everything here is hidden; what a stub exports is the real library's names
 * and include/lazycuda.h.
 */
#ifndef STUB_H
#define STUB_H

#include <stddef.h>
#include <stdint.h>

#define LC_HIDDEN __attribute__((visibility("hidden")))

/* A toolkit version, 12.9, as 1209: ordered and comparable. */
typedef uint16_t lc_version;
#define LC_VERSION(major, minor) ((lc_version)((major) * 100 + (minor)))
#define LC_MAJOR(version) ((version) / 100)
#define LC_MINOR(version) ((version) % 100)
#define LC_ANY_LATER UINT16_MAX

/* Why a call was not forwarded.  Indexes lc_library.errors. */
enum lc_refusal {
	LC_NONE,	/* it was */
	LC_MISSING,	/* no usable library was found */
	LC_ABSENT,	/* the library does not have the name */
	LC_REFUSED,	/* it has it with another interface */
	LC_DRIVER,	/* the driver is too old for the library */
	LC_INCOHERENT,	/* its major does not go with another stub's */
	LC_REFUSALS
};

/* One major version of the real library. */
struct lc_major {
	int major;
	const char *soname;	/* also its version node */
	const char *folder;	/* below site-packages; several with `:` between them */
	lc_version oldest;	/* the oldest and newest toolkits the list knows */
	lc_version newest;
};

/* A name that carries a slot's interface in the versions [from, to]. */
struct lc_candidate {
	uint32_t name;		/* offset in lc_library.names */
	lc_version from, to;
};

/*
 * What a slot wants.  Candidates are in order of preference; the first whose
 * range holds the loaded version and that the library exports is taken.  When
 * none is, the slot is REFUSED if the library exports `name`, else ABSENT.
 */
struct lc_slot {
	uint32_t name;		/* the name callers use, for messages */
	uint16_t first;		/* candidates[first .. first + count) */
	uint16_t count;
};

/* A name as callers import it: compiled for this major they use this slot. */
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

typedef void (*lc_function)(void);

/* Gives a library's function of this name, or NULL; `data` says of which library. */
typedef lc_function lc_finder(const char *name, void *data);

/* How a slot is served where it has no candidate: `function` has the slot's
 * prototype and calls what slot `needs` leads to. */
struct lc_adaptor {
	uint16_t slot, needs;
	lc_function function;	/* NULL in the last row of a table, which is none */
};

struct lc_library {
	const char *name;		/* "cudart" */
	const char *stub;		/* SONAME of the stub, "libcudart_stub.so" */
	const char *variable;		/* "LAZYCUDA_CUDART" */
	const char *companion;		/* "libnvrtc-builtins.so.%M.%m" or NULL */
	const struct lc_major *majors;	/* newest first */
	size_t major_count;
	const uint16_t *known_majors;	/* of any library in the list, newest first */
	size_t known_major_count;
	int32_t errors[LC_REFUSALS];
	const char *names;		/* the pool that name offsets point into */
	const struct lc_slot *slots;	/* parallel to lc_slots */
	size_t slot_count;
	const struct lc_candidate *candidates;
	const struct lc_enumerator *enumerators;	/* sorted by value */
	size_t enumerator_count;
	const struct lc_since *since;	/* newest first */
	size_t since_count;
	const struct lc_export *exports;	/* sorted by name as strcmp does, then major */
	size_t export_count;
	/* A library without majors, which comes with the driver: its one row of
	 * `majors` is of major 0, and its names have no version node. */
	const char *witness;		/* a name that it has; NULL: it has majors */
	const char *const *homes;	/* where it is looked for last, then NULL */
	uint8_t own_majors;	/* they are not CUDA's: it takes no part in that choice */
	uint8_t by_soname;	/* no version node is called as its SONAME is */
};

/* Whether a version is of this major; all are of major 0. */
static inline int lc_is_of(lc_version version, const struct lc_major *major)
{
	return !major->major || LC_MAJOR(version) == major->major;
}

static inline int lc_has_majors(const struct lc_library *library)
{
	return !library->witness;
}

/* Whether its major is chosen together with those of other stubs. */
static inline int lc_is_coordinated(const struct lc_library *library)
{
	return lc_has_majors(library) && !library->own_majors;
}

/* Whether version nodes tell the real library, and the interface of a name in it. */
static inline int lc_has_nodes(const struct lc_library *library)
{
	return lc_has_majors(library) && !library->by_soname;
}

/* Before a number, in a message. */
static inline const char *lc_major_word(const struct lc_library *library)
{
	return library->own_majors ? "major" : "CUDA";
}

/* Generated. */
extern const struct lc_library lc_library LC_HIDDEN;

/*
 * The table of slots, lc_library.slot_count function pointers, is generated as
 * `struct lc_slots lc_slots`, whose members have the real prototypes; the
 * loader sees it as an array.  It lies in RELRO, so it is read-only except
 * while the loader fills it.
 */
extern lc_function lc_slot_table[] LC_HIDDEN;

/*
 * Called by a slot's slow function.  Finds and loads the real library if that
 * has not been done.  Returns 0 when the slot now leads to a real function, and
 * else the status to return; the refusal is then the calling thread's last.
 * Thread-safe, takes no lock once the outcome is known.
 */
int32_t lc_slow(unsigned slot) LC_HIDDEN;

#endif
