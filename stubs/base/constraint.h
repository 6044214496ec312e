/* SPDX-License-Identifier: MIT */
/* constraint.h - a user's constraints on versions, ">=13.2,<14" */
#ifndef CONSTRAINT_H
#define CONSTRAINT_H

#define LC_CONSTRAINT_VARIABLE "LAZYCUDA_CONSTRAINT"

/*
 * Returns 1 if a version satisfies a constraint such as ">=13.2,<14", 0 if not, and
 * -1 for malformed text, with *wrong, unless `wrong` is NULL, at the error.  A
 * constraint is any number of ==, !=, >=, <=, <, >, ~= and ==12.*, !=12.*, all of
 * which have to hold.
 *
 * These are Python's version specifiers (PEP 440) for plain releases: a missing
 * minor is 0, so that "==12" is 12.0 alone, and "~=13.2" is ">=13.2,==13.*".  A
 * toolkit's version has two numbers here.  A third one is allowed but ignored, so
 * that 13.2 satisfies "==13.2.1" and not "<13.2.1"; only in "~=13.2.1" does it
 * matter, where it fixes the minor.  Every version satisfies an empty text.
 */
int lc_constraint_holds(const char *constraint, int version, const char **wrong);

#endif
