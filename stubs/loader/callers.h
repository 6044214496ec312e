/* SPDX-License-Identifier: MIT */
/* callers.h - what the loaded objects import from the stubs */
#ifndef CALLERS_H
#define CALLERS_H

#include "../base/arena.h"
#include "../base/image.h"
#include "../entry/stub.h"

/* The imports from one stub.  The version node of an import names the major that the caller was
 * compiled for: so the imports show, before any call, which real library would serve them. */
struct lc_called {
	const struct lc_library *library;
	const char **importers;	/* parallel to library->exports: a file that imports it, or NULL */
};

struct lc_callers {
	struct lc_called *list;
	size_t count;
};

/* Records what an object imports from a library's stub.  May be called within
 * dl_iterate_phdr().  Keeps the pointer `path`. */
void lc_callers_note(struct lc_arena *arena, struct lc_callers *callers,
		     const struct lc_library *library, const struct lc_image *image,
		     const char *path);

/* The imports that a library of this version would not serve. */
struct lc_unserved {
	size_t count;
	const char *name;	/* the first of them, */
	const char *importer;	/* and a file that imports it */
};

struct lc_unserved lc_callers_unserved(const struct lc_callers *callers,
				       const struct lc_library *library,
				       const struct lc_adaptor *adaptors, lc_version version);

#endif
