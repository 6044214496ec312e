/* SPDX-License-Identifier: MIT */
/* A plugin that does nothing. */
extern int nothing;
int nothing;
