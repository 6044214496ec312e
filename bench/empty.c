/* SPDX-License-Identifier: MIT */
/* empty.c - a library that holds nothing */
extern int nothing;
int nothing;
