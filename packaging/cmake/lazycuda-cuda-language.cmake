# SPDX-License-Identifier: MIT
# lazycuda-cuda-language.cmake - read when a project enables CUDA after lazycuda_replace_cuda()
if(NOT COMMAND _lazycuda_replace_runtime)
  return()      # a project of CMake's own, in which it tries the compiler
endif()
if(NOT CMAKE_CUDA_COMPILER_VERSION MATCHES "^${lazycuda_ABI}\\.")
  message(FATAL_ERROR "lazycuda: CUDA ${CMAKE_CUDA_COMPILER_VERSION} compiles this project, and"
    " LAZYCUDA_ABI says ${lazycuda_ABI}.")
endif()
_lazycuda_replace_runtime()
