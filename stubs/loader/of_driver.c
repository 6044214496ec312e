/* SPDX-License-Identifier: MIT */
/* of_driver.c - the driver's libraries, which every stub looks for */
#include "of_driver.h"

#include "generated/libcuda_stub.real.h"
#include "generated/libnvidia-ml_stub.real.h"

const struct lc_library *const lc_of_driver[LC_OF_DRIVER] = {
	[LC_OF_DRIVER_CUDA] = &lc_real_cuda,
	[LC_OF_DRIVER_NVML] = &lc_real_nvml,
};
