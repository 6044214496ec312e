/* SPDX-License-Identifier: MIT */
/* child_command.h - what the command `lazycuda` calls as the child process of an isolated link */
#ifndef LINK_CHILD_COMMAND_H
#define LINK_CHILD_COMMAND_H

/* Does the job of file descriptors 0 to 4.  Returns 2 if there is none. */
__attribute__((visibility("default"))) int lazycuda_link_worker(void);

#endif
