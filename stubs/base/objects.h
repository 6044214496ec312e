/* SPDX-License-Identifier: MIT */
/*
 * objects.h - the objects that ld.so has loaded, whatever stands in its functions' way
 *
 * A program may define dl_iterate_phdr(), as servers do that keep a list from their start, and
 * dlsym(), as limiters of shared GPUs do.  What a stub asks is answered by glibc's own functions.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <link.h>

#include "image.h"

typedef int lc_visit_object(struct dl_phdr_info *info, size_t size, void *data);

/*
 * Calls `visit` for each loaded object, in load order, until it returns another value than 0;
 * returns that.  As dl_iterate_phdr() does, with ld.so's lock held: allocate and open nothing
 * there.  A program that was linked statically has no such lock for us.
 */
int lc_each_object(lc_visit_object *visit, void *data);

/* Returns true if an address lies in the object. */
bool lc_object_holds(const struct dl_phdr_info *info, const void *address);

/* glibc's own dlvsym(); dlsym() if `node` is NULL. */
void *lc_ask_loader(void *handle, const char *name, const char *node);

#endif
