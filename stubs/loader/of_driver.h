/* SPDX-License-Identifier: MIT */
/* of_driver.h - the driver's libraries, which every stub looks for */
#ifndef OF_DRIVER_H
#define OF_DRIVER_H

#include "../entry/stub.h"

enum lc_of_driver { LC_OF_DRIVER_CUDA, LC_OF_DRIVER_NVML, LC_OF_DRIVER };

/* libcuda.so.1 and libnvidia-ml.so.1, by enum lc_of_driver.  The real libraries: no stub for
 * them needs to be in the process. */
extern const struct lc_library *const lc_of_driver[LC_OF_DRIVER] LC_HIDDEN;

#endif
