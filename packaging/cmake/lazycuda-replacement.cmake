# SPDX-License-Identifier: MIT
#
# lazycuda-replacement.cmake - lazycuda in the place of CUDA's own libraries

# The targets that FindCUDAToolkit made, or will not make because they are there.
function(_lazycuda_replace_targets)
  foreach(name IN LISTS _lazycuda_libraries ITEMS cuda_driver nvml)
    if(NOT TARGET lazycuda::${name})
      continue()
    endif()
    set(targets CUDA::${name})
    if(name STREQUAL "cufile")
      set(targets CUDA::cuFile)
    endif()
    if(NOT name MATCHES "^(cuda_driver|nvml)$")
      list(APPEND targets ${targets}_static)
    endif()
    foreach(target IN LISTS targets)
      if(NOT TARGET ${target})
        add_library(${target} INTERFACE IMPORTED)
      endif()
      get_target_property(type ${target} TYPE)
      if(NOT type STREQUAL "INTERFACE_LIBRARY")
        # It has to have a file: an archive with nothing in it.
        set_target_properties(${target} PROPERTIES
          IMPORTED_LOCATION "${_lazycuda_here}/nothing.a" IMPORTED_SONAME "")
      endif()
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES lazycuda::${name})
    endforeach()
  endforeach()
endfunction()

# What CMake links nvcc-compiled code with is in two lists, for CUDA_RUNTIME_LIBRARY Static
# and Shared; the property itself stays what the project made of it, None included.
macro(_lazycuda_replace_runtime)
  foreach(_lazycuda_kind STATIC SHARED)
    set(_lazycuda_list "${CMAKE_CUDA_RUNTIME_LIBRARY_LINK_OPTIONS_${_lazycuda_kind}}")
    list(FILTER _lazycuda_list EXCLUDE REGEX "cudart")
    list(APPEND _lazycuda_list ${_lazycuda_cudart})
    set(CMAKE_CUDA_RUNTIME_LIBRARY_LINK_OPTIONS_${_lazycuda_kind} "${_lazycuda_list}")
  endforeach()
endmacro()

macro(lazycuda_replace_cuda)
  get_target_property(_lazycuda_cudart lazycuda::cudart INTERFACE_LINK_LIBRARIES)
  get_target_property(_lazycuda_file lazycuda::cudart_stub IMPORTED_LOCATION)
  string(REPLACE "lazycuda::cudart_stub" "${_lazycuda_file}" _lazycuda_cudart "${_lazycuda_cudart}")
  _lazycuda_replace_targets()
  # CMake takes no run path from those lists.  This one holds for targets that come later,
  # and like every build path it is gone from what is installed.
  list(APPEND CMAKE_BUILD_RPATH "${_lazycuda_libdir}")
  list(REMOVE_DUPLICATES CMAKE_BUILD_RPATH)
  if(CMAKE_CUDA_COMPILER_LOADED)
    _lazycuda_replace_runtime()
  else()
    # CMake reads this when the project enables CUDA.
    set(CMAKE_USER_MAKE_RULES_OVERRIDE_CUDA "${_lazycuda_here}/lazycuda-cuda-language.cmake")
  endif()
endmacro()
