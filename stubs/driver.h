/* SPDX-License-Identifier: MIT */
/* driver.h - the installed NVIDIA driver */
#ifndef DRIVER_H
#define DRIVER_H

#include "arena.h"
#include "stub.h"

/*
 * The CUDA version that the driver supports, 1000 * major + 10 * minor, from
 * cuDriverGetVersion() of libcuda.so.1; 0 without a driver.  No GPU is needed
 * and no CUDA is started.  Finds and loads the driver library as its own stub
 * does; any CUDA runtime would load it as well.  Hold no lock.  The arena is
 * marked where something could not be looked at.
 */
int lc_driver_version(struct lc_arena *arena);

/*
 * The display driver's branch, 535 for 535.104.05: what minor-version
 * compatibility depends on.  From the kernel module, else from NVML; 0 if
 * neither tells.
 */
int lc_driver_branch(struct lc_arena *arena);

/*
 * The versions that the driver's libraries give themselves, before anything is
 * initialized; 0 if they do not, as NVIDIA's stand-ins for linking.  NVML tells
 * its major alone.  As lc_specifics.version.
 */
typedef lc_function lc_finder(const char *name, void *data);
lc_version lc_cuda_version(lc_finder *find, void *data, int major);
lc_version lc_nvml_version(lc_finder *find, void *data, int major);

#endif
