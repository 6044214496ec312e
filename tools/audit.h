/* SPDX-License-Identifier: MIT */
/* audit.h - `lazycuda audit` */
#ifndef AUDIT_H
#define AUDIT_H

/* As main(), with argv[0] "audit".  Returns the exit status. */
int audit_main(int argc, char **argv);

#endif
