/* SPDX-License-Identifier: MIT */
/* link.h - `lazycuda link` */
#ifndef LINK_H
#define LINK_H

/* As main(), with argv[0] "link".  Returns the exit status. */
int link_main(int argc, char **argv);

#endif
