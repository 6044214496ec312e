/* SPDX-License-Identifier: MIT */
/* visitor.h - makes the stubs and the dispatch module look for everything that
 * they ever look for, and says what came of it */
#ifndef VISITOR_H
#define VISITOR_H

/* `folder` has the libraries of the build, `code` files with compressed code. */
void visit(const char *folder, char **code);

#endif
