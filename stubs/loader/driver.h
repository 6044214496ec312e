/* SPDX-License-Identifier: MIT */
/* driver.h - the installed NVIDIA driver */
#ifndef DRIVER_H
#define DRIVER_H

#include "../../include/lazycuda.h"
#include "choice.h"

/*
 * What the choice depends on: the CUDA version that the driver supports, from
 * cuDriverGetVersion() of libcuda.so.1, and the display driver's branch.  No GPU
 * is needed and no CUDA is started.  Finds and loads the driver library as its own
 * stub does; any CUDA runtime would load it as well.  Hold no lock.  False: it
 * could not be looked at now, for want of memory or files, and no choice can be made;
 * after some tries, unless LAZYCUDA_GUARD=strict, one is made without it.
 */
bool lc_look_at_driver(struct lc_arena *arena, struct lc_circumstances *at);

/* The driver that a choice was made for; looks at it if none has been made. */
struct lazycuda_driver lc_driver(void);

/* Whether there is one; where that cannot be found out now, there may be. */
bool lc_has_driver(void);

/*
 * The versions that the driver's libraries give themselves, before anything is
 * initialized; 0 if they do not, as NVIDIA's stand-ins for linking.  NVML tells
 * its major alone.  As lc_specifics.version.
 */
lc_version lc_cuda_version(lc_finder *find, void *data, int major);
lc_version lc_nvml_version(lc_finder *find, void *data, int major);

/* How a user gets them, as lc_specifics.advice. */
#define LC_DRIVER_REMEDY "install that, or start the container with it (docker run --gpus all)"
#define LC_DRIVER_ADVICE "It comes with the NVIDIA driver: " LC_DRIVER_REMEDY "."

#endif
