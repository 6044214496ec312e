/* SPDX-License-Identifier: MIT */
/* accept.h - may this linker, of this version, take this entry for this target? */
#ifndef LINK_ACCEPT_H
#define LINK_ACCEPT_H

#include <stdbool.h>

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "../tables/arch.h"

struct lk_linker {
	enum lazycuda_backend backend;
	int version;		/* UNKNOWN: every version of the backend would do */
	int isa;		/* the newest PTX that it reads; 0: not known */
	struct lk_arch target;
	unsigned flags;		/* LAZYCUDA_LINK_* */
	bool strict;		/* takes nothing in doubt */
};

/* Makes a linker; one that is not installed counts as of unknown version. */
struct lk_linker lk_linker(enum lazycuda_backend backend, int version,
			   const struct lk_arch *target, unsigned flags, bool strict);

/* "nvJitLink 12.9", "the driver (CUDA 12.4)", "nvJitLink of unknown version" */
#define LK_LINKER_TEXT 48
const char *lk_linker_text(const struct lk_linker *linker, char text[LK_LINKER_TEXT]);

struct lk_acceptance {
	enum lazycuda_code code;	/* OK: taken */
	enum lazycuda_form form;	/* how, if it is taken */
	bool doubt;		/* something that the linker will check is not known */
};

/* Judges one entry by itself, whether or not LTO-IR is asked for. */
struct lk_acceptance lk_accept(const struct lk_linker *linker,
			       const struct lazycuda_entry *entry);

/* The range of toolkits that may have made an entry; false, and 0, if nothing tells. */
bool lk_entry_toolkits(const struct lazycuda_entry *entry, int *oldest, int *newest);

#endif
