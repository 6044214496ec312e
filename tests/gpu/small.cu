// SPDX-License-Identifier: MIT
// small.cu - for what is only loaded, whole
extern "C" __global__ void small(int *p) { *p = 3; }
