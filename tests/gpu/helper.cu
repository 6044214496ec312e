// SPDX-License-Identifier: MIT
// helper.cu - the other half of linked.cu
__device__ int elsewhere = 5;
__device__ int helper(int x) { return 3 * x + 1; }
