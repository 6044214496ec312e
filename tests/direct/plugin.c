/* SPDX-License-Identifier: MIT */
/* A library that does nothing: a plugin, or another project's. */
extern int nothing;
int nothing;
