/* SPDX-License-Identifier: MIT */
/* builtins.c - a fake libnvrtc-builtins, which is only ever looked for */
int builtins;
