# SPDX-License-Identifier: MIT
#
# lazycuda-embed.cmake - lazycuda_embed(): stubs that are compiled into a target

get_filename_component(_lazycuda_bin "${CMAKE_CURRENT_LIST_DIR}/../../../bin" ABSOLUTE)
find_program(LAZYCUDA_EXECUTABLE lazycuda HINTS "${_lazycuda_bin}" DOC "the command that writes stubs as one C file")

# A macro: CMake enables languages in no function.
macro(lazycuda_embed)
  if(NOT CMAKE_C_COMPILER_LOADED AND DEFINED CMAKE_CURRENT_FUNCTION)
    message(FATAL_ERROR "lazycuda_embed(): this project has no C, and CMake enables no language in a function: say project(... LANGUAGES C CXX)")
  endif()
  enable_language(C)
  _lazycuda_embed(${ARGN})
endmacro()

# Writes the file, unless it is there already and of this lazycuda: the same arguments write the same bytes.
function(_lazycuda_write file cuda)
  if(NOT LAZYCUDA_EXECUTABLE)
    message(FATAL_ERROR "lazycuda_embed(): there is no command `lazycuda`: set LAZYCUDA_EXECUTABLE, or FILE to what it wrote elsewhere")
  endif()
  get_filename_component(folder "${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${LAZYCUDA_EXECUTABLE}" embed --cuda "${cuda}" -o "${file}.new" ${ARGN}
    RESULT_VARIABLE failed ERROR_VARIABLE why)
  if(failed AND NOT failed MATCHES "^[12]$")	# which it says itself
    message(FATAL_ERROR "lazycuda_embed(): ${LAZYCUDA_EXECUTABLE} cannot be run: ${failed}; set LAZYCUDA_EXECUTABLE to one that runs here")
  elseif(failed)
    message(FATAL_ERROR "lazycuda_embed(): ${why}")
  endif()
  configure_file("${file}.new" "${file}" COPYONLY)
endfunction()

function(_lazycuda_embed)
  cmake_parse_arguments(embed "" "TARGET;CUDA;FILE" "LIBRARIES" ${ARGN})
  if(embed_UNPARSED_ARGUMENTS OR NOT TARGET "${embed_TARGET}")
    message(FATAL_ERROR "lazycuda_embed(): say lazycuda_embed(TARGET name CUDA 12 LIBRARIES cudart)")
  endif()
  get_target_property(type "${embed_TARGET}" TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    message(FATAL_ERROR "lazycuda_embed(TARGET ${embed_TARGET}): an INTERFACE library compiles nothing; name what links it")
  endif()
  # A digit for each call before this one, since each writes a file of its own.
  get_property(before TARGET "${embed_TARGET}" PROPERTY LAZYCUDA_EMBEDDED)
  set_property(TARGET "${embed_TARGET}" PROPERTY LAZYCUDA_EMBEDDED "${before}1")
  set(file "${embed_FILE}")
  if(NOT file)
    if(NOT embed_CUDA OR NOT embed_LIBRARIES)
      message(FATAL_ERROR "lazycuda_embed(TARGET ${embed_TARGET}): CUDA and LIBRARIES are missing, or a FILE")
    endif()
    set(file "${CMAKE_CURRENT_BINARY_DIR}/lazycuda/${embed_TARGET}_stubs${before}.c")
    _lazycuda_write("${file}" "${embed_CUDA}" ${embed_LIBRARIES})
  endif()
  target_sources("${embed_TARGET}" PRIVATE "${file}")
  # A call is one jump all the same, and -O3 makes the search much larger.
  # The target's precompiled headers are of the language of its own sources, and come first in a file.
  set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS "-Os" SKIP_PRECOMPILE_HEADERS ON)
  # Without PRIVATE or PUBLIC, of which a project may have neither.
  set_property(TARGET "${embed_TARGET}" APPEND PROPERTY LINK_LIBRARIES dl pthread)
  if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")	# linked by others
    set_property(TARGET "${embed_TARGET}" APPEND PROPERTY INTERFACE_LINK_LIBRARIES $<LINK_ONLY:dl> $<LINK_ONLY:pthread>)
  endif()
  set_property(TARGET "${embed_TARGET}" PROPERTY CUDA_RUNTIME_LIBRARY None)
endfunction()
