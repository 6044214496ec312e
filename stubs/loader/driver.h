/* SPDX-License-Identifier: MIT */
/* driver.h - the installed NVIDIA driver */
#ifndef DRIVER_H
#define DRIVER_H

#include "../../include/lazycuda.h"
#include "search.h"

/*
 * Sets what the choice needs to know of the driver: the CUDA version that it
 * supports, from cuDriverGetVersion() of libcuda.so.1, and the display driver's
 * branch.  Needs no GPU and does not initialize CUDA.  Finds and loads the driver
 * library as its own stub does; any CUDA runtime would load it as well.  Hold no
 * lock.  Returns false if a shortage of memory or file descriptors prevents this;
 * then no choice can be made.  After some tries it returns true without having
 * found out, unless LAZYCUDA_GUARD=strict.
 */
bool lc_look_at_driver(struct lc_arena *arena, struct lc_search *search);

/* The driver that the choice was made for.  Looks for the driver if no choice did. */
struct lazycuda_driver lc_driver(void);

/* Returns true if there is a driver that is not hidden, or if that cannot be found out now. */
bool lc_has_driver(void);

/*
 * The versions that the driver's libraries report before initialization; 0 if
 * they report none, as NVIDIA's link-time stubs do.  Of NVML's version only the
 * major is returned.  For use as lc_specifics.version.
 */
lc_version_look lc_cuda_version, lc_nvml_version;

/* How a user gets these libraries, for use as lc_specifics.advice. */
#define LC_DRIVER_REMEDY "install that, or start the container with it (docker run --gpus all)"
#define LC_DRIVER_ADVICE "It comes with the NVIDIA driver: " LC_DRIVER_REMEDY "."

#endif
