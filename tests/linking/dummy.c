/* SPDX-License-Identifier: MIT */
/* dummy.c - an old libcudart without version nodes, to link against */
int cudaMemAdvise(void) { return 1; }
