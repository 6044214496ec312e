/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the main functions of `lazycuda COMMAND`
 *
 * Each takes arguments like main(), with the command in argv[0], and returns the exit
 * status.  python_main() executes another program and returns only if it cannot.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

int audit_main(int argc, char **argv);
int embed_main(int argc, char **argv);
int inspect_main(int argc, char **argv);
int link_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int python_main(int argc, char **argv);
int status_main(int argc, char **argv);
int stub_main(int argc, char **argv);

#endif
