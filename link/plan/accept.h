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
	bool strict;		/* takes nothing that it is not sure of */
};

/* A linker; what is not installed is judged as if its version were unknown. */
struct lk_linker lk_linker(enum lazycuda_backend backend, int version,
			   const struct lk_arch *target, unsigned flags, bool strict);

/* "nvJitLink 12.9", "the driver (CUDA 12.4)", "nvJitLink of unknown version" */
#define LK_LINKER_TEXT 48
const char *lk_linker_text(const struct lk_linker *linker, char text[LK_LINKER_TEXT]);

struct lk_acceptance {
	enum lazycuda_code code;	/* OK: taken */
	enum lazycuda_form form;	/* how, if it is taken */
	bool doubt;		/* something is not known that the linker will look at */
};

/* Looks at the one entry: whether LTO-IR is asked for is not its business. */
struct lk_acceptance lk_accept(const struct lk_linker *linker,
			       const struct lazycuda_entry *entry);

/* The toolkits that may have made an entry; false, and 0, if nothing tells. */
bool lk_entry_toolkits(const struct lazycuda_entry *entry, int *oldest, int *newest);

#endif
