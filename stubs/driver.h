/* SPDX-License-Identifier: MIT */
/* driver.h - the installed NVIDIA driver */
#ifndef DRIVER_H
#define DRIVER_H

/*
 * The CUDA version that the driver supports, 1000 * major + 10 * minor, from
 * cuDriverGetVersion() of libcuda.so.1; 0 without a driver.  No GPU is needed
 * and no CUDA is started.  Loads the driver library, which any CUDA runtime
 * would load as well: hold no lock.
 */
int lc_driver_version(void);

/* The same library, for its functions to be looked up; NULL, and version 0,
 * without a driver.  It stays loaded. */
void *lc_driver_handle(int *version);

/* A library of the driver's by its name, or NULL. */
void *lc_driver_library(const char *name);

/*
 * The display driver's branch, 535 for 535.104.05: what minor-version
 * compatibility depends on.  From the kernel module, else from NVML; 0 if
 * neither tells.
 */
int lc_driver_branch(void);

#endif
