/* SPDX-License-Identifier: MIT */
/*
 * commands.h - what `lazycuda COMMAND` calls
 *
 * As main(), with the command in argv[0].  Each returns the exit status; retarget_main()
 * becomes another program where it can.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

int audit_main(int argc, char **argv);
int inspect_main(int argc, char **argv);
int link_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int retarget_main(int argc, char **argv);
int status_main(int argc, char **argv);
int stub_main(int argc, char **argv);

#endif
