/* SPDX-License-Identifier: MIT */
/* retarget.h - `lazycuda retarget`: from the real libraries to the stubs */
#ifndef RETARGET_H
#define RETARGET_H

/* Does not return if it can be run. */
int retarget_main(int argc, char **argv);

#endif
