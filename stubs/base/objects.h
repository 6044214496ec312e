/* SPDX-License-Identifier: MIT */
/*
 * objects.h - the objects that ld.so has loaded, asked of glibc past any interposer
 *
 * A program may define dl_iterate_phdr(), as servers do that keep a list from their start, and
 * dlsym(), as limiters of shared GPUs do.  What a stub asks is answered by glibc's own functions.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <link.h>

#include "image.h"

/* This code itself is compiled with the thread sanitizer. */
#if defined(__SANITIZE_THREAD__)
# define LC_THREAD_SANITIZED 1
#elif defined(__has_feature)
# define LC_THREAD_SANITIZED __has_feature(thread_sanitizer)
#else
# define LC_THREAD_SANITIZED 0
#endif

typedef int lc_visit_object(struct dl_phdr_info *info, size_t size, void *data);

/*
 * Calls `visit` for each loaded object, in load order, until it returns another value than 0;
 * returns that.  As dl_iterate_phdr() does, with ld.so's lock held: allocate and open nothing
 * there.  A program that was linked statically has no such lock for us.
 */
int lc_each_object(lc_visit_object *visit, void *data);

/*
 * A program's thread sanitizer sees what a stub does in functions of libc and, as the stub is not
 * compiled with it, no lock and no atomic operation.  Between these two it looks away from this
 * thread.  They nest.
 */
void lc_hide_accesses(void);
void lc_show_accesses(void);

/* Returns true if an address lies in the object. */
bool lc_object_holds(const struct dl_phdr_info *info, const void *address);

/* glibc's own dlvsym(); dlsym() if `node` is NULL. */
void *lc_ask_loader(void *handle, const char *name, const char *node);

#endif
