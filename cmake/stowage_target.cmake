# SPDX-License-Identifier: Apache-2.0
# Warnings, sanitizers and the one way in which this project declares a library.

add_library(stowage_warnings INTERFACE)
target_compile_options(stowage_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # g++ 12 reports a false -Wrestrict on "literal" + std::to_string(x) at -O3 (GCC PR105651).
  # At -O3 and with sanitizers it also takes members of strings and optionals for uninitialised that are not.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized>
  $<$<BOOL:${STOWAGE_WARNINGS_AS_ERRORS}>:-Werror>)
# Where files are compiled together, g++ takes each for a header of the file that includes them, and a class that holds
# something of its own file's unnamed namespace for one that others see too.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(stowage_warnings INTERFACE -Wno-subobject-linkage)
endif()

add_library(stowage_sanitize INTERFACE)
if(STOWAGE_SANITIZE)
  target_compile_options(stowage_sanitize INTERFACE -fsanitize=${STOWAGE_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(stowage_sanitize INTERFACE -fsanitize=${STOWAGE_SANITIZE})
endif()

# Planning asks for and gives back small objects all the time, in several threads: with jemalloc it takes a fifth less.
# Programs link it, not the libraries; sanitizers bring their own.
add_library(stowage_allocator INTERFACE)
find_library(STOWAGE_JEMALLOC jemalloc)
if(STOWAGE_JEMALLOC AND NOT STOWAGE_SANITIZE)
  target_link_libraries(stowage_allocator INTERFACE ${STOWAGE_JEMALLOC})
elseif(NOT STOWAGE_SANITIZE)
  message(STATUS "jemalloc was not found: planning takes longer")
endif()

# stowage_library(NAME [INTERNAL] SOURCES… [PUBLIC targets…] [PRIVATE targets…]) declares stowage_NAME with alias
# stowage::NAME. Headers are included by their path from the source root ("core/graph.h"), and installed that way
# (install_headers.cmake says which); one that is INTERNAL is not installed.
function(stowage_library name)
  cmake_parse_arguments(arg "INTERNAL" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  add_library(stowage_${name} STATIC ${arg_SOURCES})
  add_library(stowage::${name} ALIAS stowage_${name})
  set_target_properties(stowage_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(stowage_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/stowage>)
  target_compile_features(stowage_${name} PUBLIC cxx_std_20)
  target_link_libraries(stowage_${name}
    PUBLIC ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:stowage_warnings> $<BUILD_INTERFACE:stowage_sanitize>)
  if(arg_INTERNAL)
    return()
  endif()
  # Each library is a component of its own, so that a user of the core needs neither ONNX nor oneDNN (stowage_install.cmake).
  set_property(GLOBAL APPEND PROPERTY STOWAGE_COMPONENTS ${name})
  set_property(GLOBAL PROPERTY STOWAGE_LINKS_OF_${name} ${arg_PUBLIC} ${arg_PRIVATE})
  install(TARGETS stowage_${name} EXPORT Stowage-${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/stowage)
  install(EXPORT Stowage-${name} NAMESPACE stowage:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Stowage)
endfunction()
