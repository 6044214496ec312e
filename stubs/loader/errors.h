/* SPDX-License-Identifier: MIT */
/* errors.h - statuses and messages for calls that are not forwarded */
#ifndef ERRORS_H
#define ERRORS_H

#include "../../include/lazycuda.h"
#include "../entry/stub.h"

/* A call that was not forwarded. */
struct lc_refused {
	const char *reason;	/* a string constant with details, or NULL */
	int32_t status;		/* the call's result */
	unsigned slot : 28;
	unsigned why : 4;	/* enum lc_refusal */
};

/*
 * Records a refusal as the calling thread's last and returns the status for it.
 * Allocates nothing and takes no lock.
 */
int32_t lc_refuse(unsigned slot, enum lc_refusal why);

/* lc_refuse() with details: `reason` is a string constant of this stub. */
int32_t lc_refuse_because(unsigned slot, enum lc_refusal why, const char *reason);

/* lc_refuse_because() with an unusual status; 0 is no error and leaves the pending status alone. */
int32_t lc_refuse_with(unsigned slot, enum lc_refusal why, int32_t status, const char *reason);

/* The calling thread's last refusal, with a message; never NULL. */
const struct lazycuda_error *lc_last_error(void);

/* The error of a refused call, whichever thread made it; never NULL. */
const struct lazycuda_error *lc_error_of(const struct lc_refused *call);

/*
 * The status of the calling thread's last refusal, for cudaGetLastError(): 0 if
 * there was none, or if it was cleared since.
 */
int32_t lc_pending_status(void);
void lc_clear_pending(void);

/*
 * Records that the library itself returned this status, which may be 0, and returns it.
 * From then on this status no longer stands for the thread's last refusal.
 */
int32_t lc_note_error(int32_t status);

/* The name of a status value in the library's enumeration, in any version; or NULL. */
const char *lc_status_name(int32_t value);

/* The meaning of a status that the stub may have returned: the message of the
 * thread's last refusal, or why there is no library.  NULL for any other status. */
const char *lc_refusal_text(int32_t value);

/* The result of cudaGetErrorString() or the like, whose slot is `slot`: the text above,
 * else the real function's result, else the status's name, else `unknown`. */
const char *lc_error_text(int32_t value, unsigned slot, const char *unknown);

/* lc_error_text() for a slot without a real function. */
const char *lc_text_instead(int32_t value);

#endif
