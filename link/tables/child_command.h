/* SPDX-License-Identifier: MIT */
/* child_command.h - what the command `lazycuda` calls as the child process of an isolated link */
#ifndef LINK_CHILD_COMMAND_H
#define LINK_CHILD_COMMAND_H

/* Without words, does the job of file descriptors 0 to 4; returns 2 if there is none.  Else becomes
 * another program: the words are its parent's number, bytes of memory that it may use, the program
 * and its arguments.  Returns 127 if it cannot be started. */
__attribute__((visibility("default"))) int lazycuda_link_worker(char **words);

#endif
