# SPDX-License-Identifier: MIT
#
# lazycuda-replacement.cmake - lazycuda in the place of CUDA's own libraries

# The target of CUDA's becomes ours.
function(_lazycuda_replace target ours)
  if(NOT TARGET ${target})
    add_library(${target} UNKNOWN IMPORTED)
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}")
  endif()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES ${ours})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  set(library ${ours})
  if(TARGET ${ours}_stub)
    set(library ${ours}_stub)
  endif()
  get_target_property(file ${library} IMPORTED_LOCATION)
  # Projects read it.  CMake takes what it links from the build's configuration: an archive with
  # nothing in it, since the import library has to come before the stub.
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${file}" IMPORTED_SONAME "")
  set(configurations NOCONFIG DEBUG RELEASE RELWITHDEBINFO MINSIZEREL ${CMAKE_BUILD_TYPE} ${CMAKE_CONFIGURATION_TYPES})
  string(TOUPPER "${configurations}" configurations)
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${_lazycuda_here}/nothing.a")
  endforeach()
endfunction()

# The targets that FindCUDAToolkit made, or will not make because they are there.
function(_lazycuda_replace_targets)
  foreach(name IN LISTS _lazycuda_libraries ITEMS cuda_driver nvml)
    if(NOT TARGET lazycuda::${name})
      continue()
    endif()
    set(target CUDA::${name})
    if(name STREQUAL "cufile")
      set(target CUDA::cuFile)
    endif()
    _lazycuda_replace(${target} lazycuda::${name})
    if(TARGET lazycuda::${name}_static)
      _lazycuda_replace(${target}_static lazycuda::${name}_static)
    elseif(NOT name MATCHES "^(cuda_driver|nvml)$")
      _lazycuda_replace(${target}_static lazycuda::${name})
    endif()
  endforeach()
endfunction()

# What CMake links nvcc-compiled code with is in two lists, for CUDA_RUNTIME_LIBRARY Static
# and Shared; the property itself stays what the project made of it, None included.
macro(_lazycuda_replace_runtime)
  foreach(_lazycuda_kind STATIC SHARED)
    set(_lazycuda_list "${CMAKE_CUDA_RUNTIME_LIBRARY_LINK_OPTIONS_${_lazycuda_kind}}")
    list(FILTER _lazycuda_list EXCLUDE REGEX "cudart")
    list(APPEND _lazycuda_list ${_lazycuda_cudart_${_lazycuda_kind}})
    set(CMAKE_CUDA_RUNTIME_LIBRARY_LINK_OPTIONS_${_lazycuda_kind} "${_lazycuda_list}")
  endforeach()
endmacro()

# What a project names by its file or by -l is not replaced, and nobody would notice.
function(_lazycuda_warn_of_static folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    list(FILTER libraries INCLUDE REGEX "^(-l|.*/lib)?cudart_static(\\.a)?$")
    foreach(library IN LISTS libraries)
      set(ours "")
      if(EXISTS "${library}")
        file(STRINGS "${library}" ours REGEX "lazycuda" LIMIT_COUNT 1)
      endif()
      if(NOT ours)
        message(WARNING "lazycuda: ${target} links NVIDIA's static runtime all the same: ${library}. "
                        "Link CUDA::cudart_static, or leave it out.")
      endif()
    endforeach()
  endforeach()
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS below)
    _lazycuda_warn_of_static("${folder}")
  endforeach()
endfunction()

# For nvcc-compiled code, and for projects that name the runtime by its file.
macro(_lazycuda_replace_cudart)
  get_target_property(_lazycuda_cudart_SHARED lazycuda::cudart INTERFACE_LINK_LIBRARIES)
  get_target_property(_lazycuda_file lazycuda::cudart_stub IMPORTED_LOCATION)
  string(REPLACE "lazycuda::cudart_stub" "${_lazycuda_file}" _lazycuda_cudart_SHARED "${_lazycuda_cudart_SHARED}")
  set(_lazycuda_cudart_STATIC "${_lazycuda_cudart_SHARED}")
  if(TARGET lazycuda::cudart_static)
    get_target_property(_lazycuda_file lazycuda::cudart_static IMPORTED_LOCATION)
    get_target_property(_lazycuda_cudart_STATIC lazycuda::cudart_static INTERFACE_LINK_LIBRARIES)
    set(_lazycuda_cudart_STATIC "${_lazycuda_file};${_lazycuda_cudart_STATIC}")
  endif()
  # CMake takes no run path from those lists.  This one holds for targets that come later,
  # and like every build path it is gone from what is installed.
  list(APPEND CMAKE_BUILD_RPATH "${_lazycuda_libdir}")
  list(REMOVE_DUPLICATES CMAKE_BUILD_RPATH)
  get_property(_lazycuda_warns GLOBAL PROPERTY _lazycuda_warns)
  if(NOT _lazycuda_warns AND NOT CMAKE_VERSION VERSION_LESS 3.19)	# which can look at the end
    set_property(GLOBAL PROPERTY _lazycuda_warns ON)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _lazycuda_warn_of_static "${CMAKE_SOURCE_DIR}")
  endif()
  if(CMAKE_CUDA_COMPILER_LOADED)
    _lazycuda_replace_runtime()
  else()
    # CMake reads this when the project enables CUDA.
    set(CMAKE_USER_MAKE_RULES_OVERRIDE_CUDA "${_lazycuda_here}/lazycuda-cuda-language.cmake")
  endif()
endmacro()

macro(lazycuda_replace_cuda)
  _lazycuda_replace_targets()
  if(TARGET lazycuda::cudart)	# else the project wants the driver's libraries alone
    _lazycuda_replace_cudart()
  endif()
endmacro()
