/* SPDX-License-Identifier: MIT */
/* inspect.h - `lazycuda inspect` */
#ifndef INSPECT_H
#define INSPECT_H

/* As main(), with argv[0] "inspect".  Returns the exit status. */
int inspect_main(int argc, char **argv);

#endif
