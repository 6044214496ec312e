/* SPDX-License-Identifier: MIT */
/* status.h - `lazycuda status` */
#ifndef STATUS_H
#define STATUS_H

/* As main(), with argv[0] "status".  Returns the exit status. */
int status_main(int argc, char **argv);

#endif
