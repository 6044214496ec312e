/* SPDX-License-Identifier: MIT */
/*
 * lazycuda.h - ask the stub libraries what they loaded, and why
 *
 * Every stub, libcudart_stub.so and its siblings and those that `lazycuda stub`
 * makes, exports these functions under the version node LAZYCUDA_1.  They speak
 * for all stubs of the process, whichever one they are bound to: link any.
 *
 * All functions are thread-safe and none prints.  Strings and structs returned
 * are immutable, belong to the library and stay valid until the process ends;
 * do not free them.  A struct that begins with `size` may grow at its end: that
 * says how much of it the library filled.  Others, and lazycuda_driver, which is
 * returned by value, never do.
 */
#ifndef LAZYCUDA_H
#define LAZYCUDA_H

#if !defined(__linux__) || !defined(__LP64__)
#error "lazycuda is for 64-bit Linux: elsewhere leave it out, and link CUDA's own libraries"
#endif

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What became of a stub's search for its real library.  Later releases may add
 * states: in a state that you do not know, no call is forwarded, and `cause` and
 * `reason` say why.
 */
enum lazycuda_state {
	LAZYCUDA_STATE_UNKNOWN = 0,	/* no call has been made yet, nothing was searched */
	LAZYCUDA_STATE_USABLE = 1,	/* loaded; calls are forwarded */
	LAZYCUDA_STATE_MISSING = 2,	/* no such library was found */
	LAZYCUDA_STATE_REFUSED = 3,	/* found, but not to be used: see `cause` */
	LAZYCUDA_STATE_BROKEN = 4,	/* a LAZYCUDA_* variable is wrong, or what was found
					   could not be loaded */
	LAZYCUDA_STATE_HIDDEN = 5	/* a LAZYCUDA_* variable is "none": the user hides the
					   library */
};

/*
 * Why a call was not forwarded.  The comment on each cause begins with the status that
 * the call returned, for cudart / nvrtc / nvJitLink.  cuda and nvml know the first two
 * causes: 34 / 12 and 500 / 13.
 */
enum lazycuda_cause {
	LAZYCUDA_CAUSE_NOTHING = 0,	/* it was forwarded */
	LAZYCUDA_CAUSE_NO_LIBRARY = 1,	/* 303 / 11 / 6: state MISSING,
					   BROKEN or HIDDEN; 35 of cudaGetDeviceCount
					   and 0 of cudaDriverGetVersion where there is
					   no driver either */
	LAZYCUDA_CAUSE_SYMBOL_MISSING = 2, /* 302 / 11 / 6: this version has no such function */
	LAZYCUDA_CAUSE_INTERFACE_REFUSED = 3, /* 801 / 11 / 6: this version has the function with
					   another interface than the caller was compiled for */
	LAZYCUDA_CAUSE_DRIVER_TOO_OLD = 4, /*  35 / 11 / 6: every library found needs a newer
					   driver than the installed one, and the guard is strict */
	LAZYCUDA_CAUSE_INCOHERENT = 5,	/* 303 / 11 / 6: the only library found does not go
					   with what another stub has loaded */
	LAZYCUDA_CAUSE_EXCLUDED = 6,	/* 303 / 11 / 6: a constraint on the version excludes
					   every library found */
	LAZYCUDA_CAUSE_ENDING = 7	/*   4 / 11 / 6: exit() has begun to shut the library
					   down; what gives something back returns 4 or 0 */
};

/* One file that was considered. */
struct lazycuda_candidate {
	const char *path;	/* absolute */
	const char *version;	/* "12.9": what it reports if it is in use, else what
				   its exported names prove, so it may be later; "12"
				   if only the major is known; NULL if nothing is */
	const char *found_by;	/* "override", "process", "rpath", "site-packages",
				   "conda", "loader", "environment" or "system" */
	const char *reason;	/* why it was taken or not, one line */
	int taken;		/* 1 for the one in use, else 0 */
};

/* A folder that was not searched, or in vain. */
struct lazycuda_folder {
	const char *path;	/* or what a variable has instead of one */
	const char *reason;	/* "anybody may write to /srv", and the like */
};

struct lazycuda_status {
	size_t size;		/* bytes of this struct that are filled */
	const char *library;	/* "cudart", or as in lazycuda_get_status() */
	enum lazycuda_state state;
	enum lazycuda_cause cause;	/* what calls fail with; NOTHING if usable */
	int major, minor;	/* of the loaded library; 0, 0 if none */
	const char *version;	/* the same as text, "12.9"; NULL if none */
	const char *path;	/* the loaded file; NULL if none */
	const char *found_by;	/* as in the candidate; NULL if none */
	const char *reason;	/* one or more lines: what was tried, what to do; for a library
				   whose SONAME does not tell its CUDA, also which CUDA it
				   belongs to and what tells that */
	const struct lazycuda_candidate *candidates;	/* in order of preference */
	size_t candidate_count;
	/* Folders that were not searched, because of their mode or owner or because they
	 * cannot be read; if nothing is usable, also what variables name in vain. */
	const struct lazycuda_folder *left_out;
	size_t left_out_count;
	const char *not_asked;	/* places that were not looked at, as nothing there could be taken:
				   "the machine's"; NULL: none */
};

/* The installed driver, as far as it was looked at. */
struct lazycuda_driver {
	size_t size;
	int version;		/* 1000 * major + 10 * minor, as cuDriverGetVersion gives
				   it: 12020 for 12.2; 0: no driver */
	int branch;		/* 535 for display driver 535.104.05; 0: unknown */
};

/* The last call that a stub did not forward, in the calling thread. */
struct lazycuda_error {
	size_t size;
	enum lazycuda_cause cause;	/* NOTHING: every call was forwarded so far */
	int status;		/* what that call returned */
	const char *library;
	const char *function;	/* "cudaMemAdvise" */
	const char *message;	/* a sentence, with the file and what to do */
};

/*
 * Returns the state of one stub.  `library` is "cudart", "nvrtc", "nvJitLink", "cuda" or
 * "nvml", or the name of a stub that `lazycuda stub` made.  Searches and loads nothing:
 * before the first call the state is LAZYCUDA_STATE_UNKNOWN.  Returns NULL if the process has no
 * such stub.
 */
const struct lazycuda_status *lazycuda_get_status(const char *library);

/*
 * Finds and loads a stub's real library now rather than on the first call; NULL
 * stands for every stub in the process.  Returns 0 if all of them are usable, else
 * the number of those that are not, or -1 if the process has no stub of that name.
 * May be called again: a stub that has its library does nothing; any other stub
 * checks whether the library was loaded or installed since.  So do failing calls of the
 * library's functions, but not each of thousands: they may notice a library that was
 * loaded some milliseconds late, and one that was installed after a second without a call.
 */
int lazycuda_load(const char *library);

/*
 * LAZYCUDA_EAGER("cudart") or LAZYCUDA_EAGER(NULL), at file scope in one source of a program or
 * library, calls lazycuda_load() before the file's other constructors, as if the real library were
 * linked: for programs that change their root, user or limits, fork or are confined before they
 * use CUDA.  If nothing is found, it prints nothing, and calls fail as without it.  The same source can
 * be linked to the real library: then the call is left out.  LAZYCUDA_EAGER=1 in the environment
 * does this for every stub, before all constructors of what needs it.
 */
#ifdef __GNUC__
#define LAZYCUDA_EAGER(library) \
	static int lazycuda_load_if_there(const char *) \
		__attribute__((weakref("lazycuda_load"))); \
	static __attribute__((constructor(101), used)) void lazycuda_load_at_once(void) \
	{ \
		if (lazycuda_load_if_there) \
			lazycuda_load_if_there(library); \
	} \
	typedef int lazycuda_is_eager
#endif

/*
 * Sets what CUDA the stubs of this process may load, ">=13.2,<14" say, as the environment
 * variable LAZYCUDA_CONSTRAINT does; if both are set, both have to hold.  A constraint is
 * any number of ==, !=, >=, <=, <, >, ~= and ==12.*, !=12.*, as in Python's version specifiers
 * (PEP 440) for releases of two numbers: "==12" is 12.0 alone.  NULL or "" removes it.  It
 * concerns cudart, nvrtc, nvJitLink and every other library that belongs to one CUDA, except a
 * file that the user names, and does not concern the driver.
 *
 * Call it before the first call of CUDA: what is loaded stays in use, and a stub that has
 * found nothing does not search again before something is installed.  The text is copied.
 * Returns how many stubs of libraries with CUDA's majors have already loaded a version that the
 * constraint excludes; or -1, and changes nothing, if the text is malformed, if memory ran out, or
 * while the program is being loaded.
 */
int lazycuda_set_constraint(const char *constraint);

/*
 * Sets which of the majors of CUDA that serve all stubs of the process is taken, as LAZYCUDA_ORDER
 * does, which counts if both are set: "near", the one that lies nearest to the callers (the default);
 * "highest"; or "own", the one that callers were compiled for.  Call it as lazycuda_set_constraint().
 * Returns 0; or -1 for another text, if memory ran out, or while the program is being loaded.
 */
int lazycuda_set_order(const char *order);

/*
 * Returns 1 if LAZYCUDA_MAJOR, LAZYCUDA_CONSTRAINT and lazycuda_set_constraint() let the stubs
 * load a CUDA of this version, numbered as in struct lazycuda_driver; 0 if not, as with
 * LAZYCUDA_MAJOR=none, or if one of the stubs' variables, LAZYCUDA_GUARD, LAZYCUDA_ORDER,
 * LAZYCUDA_FORWARD_COMPATIBLE and LAZYCUDA_EAGER included, is malformed.
 */
int lazycuda_is_allowed(int version);

/*
 * Returns the driver that the choice was made for.  Looks at the driver if no choice
 * was made yet.
 */
struct lazycuda_driver lazycuda_get_driver(void);

/*
 * Returns the last refusal of the given stub in the calling thread.  A forwarded call
 * does not clear it.  Returns NULL if the process has no such stub.
 */
const struct lazycuda_error *lazycuda_get_error(const char *library);

/*
 * Loads another real library of the kind that a stub stands for, as the dispatch module
 * does with the linker that fits a link: no stub takes it for one that the process uses.
 * `path` is absolute, for instance that of a candidate.  Returns dlopen()'s handle; NULL if
 * dlopen() failed, if the file is no such library, or if the process has no such stub.
 */
void *lazycuda_open_aside(const char *library, const char *path);

/* The guard in force: "strict", "best_effort" or "off" (LAZYCUDA_GUARD). */
const char *lazycuda_get_guard(void);

/* The version of lazycuda itself, "0.1.0". */
const char *lazycuda_version(void);

#ifdef __cplusplus
}
#endif
#endif
