/* SPDX-License-Identifier: MIT */
/* errors.h - what is said when a call is not forwarded */
#ifndef ERRORS_H
#define ERRORS_H

#include "../../include/lazycuda.h"
#include "../entry/stub.h"

/* A call that was not forwarded. */
struct lc_refused {
	unsigned slot;
	enum lc_refusal why;
	int32_t status;		/* what was returned */
	const char *reason;	/* a constant, or NULL: what it depends on besides */
};

/*
 * Notes a refusal as the calling thread's last and returns the status for it.
 * Allocates nothing, takes no lock.
 */
int32_t lc_refuse(unsigned slot, enum lc_refusal why);

/* The same, where it depends on the call: `reason`, a constant, says on what. */
int32_t lc_refuse_because(unsigned slot, enum lc_refusal why, const char *reason);

/* The same with another status than is usual; 0 is no error, and leaves the pending
 * one alone. */
int32_t lc_refuse_with(unsigned slot, enum lc_refusal why, int32_t status, const char *reason);

/* The calling thread's last refusal; LC_NONE if there was none. */
enum lc_refusal lc_last_refusal(void);

/* The same, with a message; never NULL. */
const struct lazycuda_error *lc_last_error(void);

/* What there is to say of such a call, whichever thread made it; never NULL. */
const struct lazycuda_error *lc_error_of(const struct lc_refused *call);

/*
 * The status of the calling thread's last refusal as cudaGetLastError() is to
 * see it: 0 if there was none, or if it was taken since.
 */
int32_t lc_pending_status(void);
void lc_clear_pending(void);

/*
 * Notes that the library itself gave this status, or 0, and returns it.  From then on
 * it is not the thread's last refusal that the status means.
 */
int32_t lc_note_error(int32_t status);

/* The name of a status value in the library's enumeration, in any version; or NULL. */
const char *lc_status_name(int32_t value);

/* What a status means if the stub may have returned it: the message of the
 * thread's last refusal, or why there is no library; else NULL. */
const char *lc_refusal_text(int32_t value);

/* What cudaGetErrorString() and its like answer, whose slot it is: the above, else
 * what the real one says, else the name, else `unknown`. */
const char *lc_error_text(int32_t value, unsigned slot, const char *unknown);

/* The same for a slot that leads nowhere. */
const char *lc_text_instead(int32_t value);

#endif
