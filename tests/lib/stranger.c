/* SPDX-License-Identifier: MIT */
/* stranger.c - a library that has nothing to do with CUDA */
int stranger;
