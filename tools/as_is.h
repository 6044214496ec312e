/* SPDX-License-Identifier: MIT */
/* as_is.h - why an unmodified file would not run on versions that serve its imports */
#ifndef AS_IS_H
#define AS_IS_H

#include "findings.h"

/* Finds out what nothing that the file needs brings, once what is beside it is known, and which major
 * names without a version are of. */
void as_is_settle(struct tables *tables, struct findings *findings);

/* Returns true if a library of this name comes with the file, where ld.so finds it. */
bool as_is_beside(const struct findings *findings, const char *soname);

/* Returns true if retargeting leaves the file as it is: it is of a wheel, and not installed into
 * site-packages, where the stubs lie. */
bool as_is_apart(const struct findings *findings);

/* Returns true unless retargeting the file would not bring it to the CUDA of this version: it is
 * for musl, needs a library of CUDA whose stub is not here, or, unless `by_name`, opens a library
 * of another CUDA by its name. */
bool as_is_within_reach(const struct tables *tables, const struct findings *findings, size_t toolkit,
			bool by_name);
/* Returns true if each real library that the file needs comes with it or with the CUDA of this
 * version, and each stub with it, if it is in a wheel. */
bool as_is_with_its_libraries(const struct tables *tables, const struct findings *findings,
			      size_t toolkit);

/* Returns true if the file can be loaded where there is neither a CUDA nor a driver. */
bool as_is_without_cuda(const struct findings *findings);
/* Returns true if no library of CUDA that it needs is one of which there is no stub, or that comes
 * with it. */
bool as_is_without_stubless(const struct findings *findings);
/* Returns true if the file can be loaded there once it is retargeted. */
bool as_is_for_glibc(const struct findings *findings);

/* Returns true if retargeting it has nothing to do: what it needs of CUDA are stubs, or comes with it. */
bool as_is_retargeted(const struct findings *findings);

/* Returns true if only a stub that the file needs is not in its wheel. */
bool as_is_without_stub(const struct findings *findings);

/* Returns what stands in the way on the versions where one of these is false, or "". */
const char *as_is_reasons(struct lc_arena *arena, const struct tables *tables,
			  const struct findings *findings, bool by_name);
/* Returns the needed libraries that audit knows nothing of, and that do not come with the file. */
struct lc_strings as_is_unjudged(struct lc_arena *arena, const struct findings *findings);

#endif
