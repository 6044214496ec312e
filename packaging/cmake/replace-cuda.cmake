# SPDX-License-Identifier: MIT
#
# replace-cuda.cmake - for a project that is not to be edited at all:
#
#   cmake -DCMAKE_PROJECT_INCLUDE=.../lib/cmake/lazycuda/replace-cuda.cmake ...

set(LAZYCUDA_REPLACE_CUDA ON)
find_package(lazycuda REQUIRED CONFIG PATHS "${CMAKE_CURRENT_LIST_DIR}" NO_DEFAULT_PATH)
