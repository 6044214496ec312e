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
 * do not free them.  A struct may grow at its end: `size` says how much of it
 * the library filled.
 */
#ifndef LAZYCUDA_H
#define LAZYCUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What became of a stub's search for its real library.  Later releases may add
 * states: take one that you do not know for one in which no call is forwarded,
 * and `cause` and `reason` for what there is to say of it.
 */
enum lazycuda_state {
	LAZYCUDA_UNKNOWN = 0,	/* no call has been made yet, nothing was searched */
	LAZYCUDA_USABLE = 1,	/* loaded; calls are forwarded */
	LAZYCUDA_MISSING = 2,	/* no such library was found */
	LAZYCUDA_REFUSED = 3,	/* found, but not to be used: see `cause` */
	LAZYCUDA_BROKEN = 4,	/* a LAZYCUDA_* variable is wrong, or what was
				   found could not be loaded */
	LAZYCUDA_HIDDEN = 5	/* a LAZYCUDA_* variable is "none": the user wants
				   no such library to be seen */
};

/*
 * Why a call was not forwarded.  The status that the call returned stands
 * behind each cause, for cudart / nvrtc / nvJitLink.  cuda and nvml know the first
 * two: 34 / 12 and 500 / 13.
 */
enum lazycuda_cause {
	LAZYCUDA_NOTHING = 0,		/* it was forwarded */
	LAZYCUDA_LIBRARY_MISSING = 1,	/* 303 / 11 / 6: state MISSING,
					   BROKEN or HIDDEN; 35 of cudaGetDeviceCount
					   and 0 of cudaDriverGetVersion where there is
					   no driver either */
	LAZYCUDA_SYMBOL_MISSING = 2,	/* 302 / 11 / 6: this version has no such function */
	LAZYCUDA_INTERFACE_REFUSED = 3,	/* 801 / 11 / 6: it has, with another interface
					   than the caller was compiled for */
	LAZYCUDA_DRIVER_TOO_OLD = 4,	/*  35 / 11 / 6: every library found needs a newer
					   driver than the installed one */
	LAZYCUDA_INCOHERENT = 5		/* 303 / 11 / 6: the only library found does not go
					   with what another stub has loaded */
};

/* One file that was considered. */
struct lazycuda_candidate {
	const char *path;	/* absolute */
	const char *version;	/* "12.9": what it says of itself if it is in use, else
				   what its exported names prove, and it may be later;
				   "12" if only the major is known; NULL: not even that */
	const char *found_by;	/* "override", "process", "rpath", "site-packages",
				   "conda", "loader", "environment" or "system" */
	const char *reason;	/* why it was taken or not, one line */
	int taken;		/* 1 for the one in use, else 0 */
};

/* A folder that was not searched. */
struct lazycuda_folder {
	const char *path;
	const char *reason;	/* "anybody may write to /srv", and the like */
};

struct lazycuda_status {
	size_t size;		/* bytes of this struct that are filled */
	const char *library;	/* "cudart", "nvrtc", "nvJitLink", "cuda" or "nvml" */
	enum lazycuda_state state;
	enum lazycuda_cause cause;	/* what calls fail with; NOTHING if usable */
	int major, minor;	/* of the loaded library; 0, 0 if none */
	const char *version;	/* the same as text, "12.9"; NULL if none */
	const char *path;	/* the loaded file; NULL if none */
	const char *found_by;	/* as in the candidate; NULL if none */
	const char *reason;	/* one or more lines: what was tried, what to do */
	const struct lazycuda_candidate *candidates;	/* in order of preference */
	size_t candidate_count;
	/* What is there and was not searched, because of its mode or owner or because it
	 * cannot be read.  See `size`: not in every 0.1.0. */
	const struct lazycuda_folder *left_out;
	size_t left_out_count;
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
 * The state of one stub.  `library` is "cudart", "nvrtc", "nvJitLink", "cuda" or "nvml".
 * Searches nothing and loads nothing: before the first call the state is
 * LAZYCUDA_UNKNOWN.  Returns NULL if the process has no such stub.
 */
const struct lazycuda_status *lazycuda_get_status(const char *library);

/*
 * Finds and loads a stub's real library now rather than on the first call;
 * NULL stands for every stub in the process.  Returns 0 if all of them are
 * usable, else the number of those that are not, or -1 if the process has no
 * stub of that name.  May be called again: a stub that has its library does
 * nothing, one that has not looks whether one was loaded since.  A call looks,
 * too, but not each one of a storm of failing calls does: the library may be
 * noticed some milliseconds late.
 */
int lazycuda_load(const char *library);

/*
 * The driver that the choice was made for; `size` 0 fields as far as known.
 * Looks at the driver if that has not been done.
 */
struct lazycuda_driver lazycuda_get_driver(void);

/*
 * The last refusal of the given stub in the calling thread.  A forwarded call
 * does not clear it.  NULL if the process has no such stub.
 */
const struct lazycuda_error *lazycuda_get_error(const char *library);

/* The guard in force: "strict", "best_effort" or "off" (LAZYCUDA_GUARD). */
const char *lazycuda_get_guard(void);

/* The version of lazycuda itself, "0.1.0". */
const char *lazycuda_version(void);

#ifdef __cplusplus
}
#endif
#endif
