/* SPDX-License-Identifier: MIT */
/* dummy.c - an old libcudart without version nodes, to link against */
int cudaDeviceSynchronize(void) { return 1; }
int cudaMemAdvise(void) { return 1; }
