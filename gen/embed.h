/* SPDX-License-Identifier: MIT */
/* embed.h - the stubs of several libraries as one C file */
#ifndef EMBED_H
#define EMBED_H

#include "model/symbols_txt.h"

struct embedding {
	struct list roots;	/* folders that have stubs/, include/, symbols.txt and libraries/ */
	struct list libraries;	/* their names: "cudart" */
	/* A file with the functions to take, one a line, those that somebody has listed without a blank before
	 * them; NULL: all. */
	const char *names;
	unsigned cuda;		/* callers are compiled for this one */
	const char *version;	/* of lazycuda */
};

/* Returns the whole file. */
struct text embed(const struct embedding *embedding);

/* Says on stderr which functions are asked for and not taken, and why: those that some library has, of
 * `lists` (struct symbols), and of the `listed` also those that none has. */
void say_left_out(const struct embedding *embedding, const struct list *asked, const struct list *listed,
		  const struct list *taken, const struct list *lists);

#endif
