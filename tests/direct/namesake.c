/* SPDX-License-Identifier: MIT */
/* Another project's library that has the SONAME of a stub. */
extern int unrelated;
int unrelated;
