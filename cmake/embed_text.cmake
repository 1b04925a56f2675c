# SPDX-License-Identifier: Apache-2.0
# stowage_embed_text(TARGET NAME FILES…): the texts of files as constants of a library, so that C pieces, templates and
# tables are real files and the tool needs none of them at run time.
#
# Adds to TARGET a generated pair NAME.h and NAME.cpp with
#   namespace stowage { std::string_view NAME(std::string_view file); }
# which gives the text of the file with that name (without folder); asking for another one is an InternalError.
# A changed file is embedded anew at the next build.
function(stowage_embed_text target name)
  cmake_parse_arguments(arg "" "" "FILES" ${ARGN})
  set(header "// Generated from text files by cmake/embed_text.cmake.
#pragma once

#include <string_view>

namespace stowage {

std::string_view ${name}(std::string_view file);

}  // namespace stowage
")
  set(source "// Generated from text files by cmake/embed_text.cmake.
#include \"${name}.h\"

#include \"core/check.h\"

namespace stowage {

std::string_view ${name}(std::string_view file) {
")
  foreach(path IN LISTS arg_FILES)
    get_filename_component(absolute "${path}" ABSOLUTE)
    get_filename_component(file "${path}" NAME)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${absolute}")
    file(READ "${absolute}" text)
    string(APPEND source "  if (file == \"${file}\") return R\"embedded(${text})embedded\";\n")
  endforeach()
  string(APPEND source "  fail_check(\"no such embedded text\");
}

}  // namespace stowage
")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  # Written beside and copied only if different: an unchanged text rebuilds nothing.
  file(WRITE "${folder}/new/${name}.h" "${header}")
  file(WRITE "${folder}/new/${name}.cpp" "${source}")
  configure_file("${folder}/new/${name}.h" "${folder}/${name}.h" COPYONLY)
  configure_file("${folder}/new/${name}.cpp" "${folder}/${name}.cpp" COPYONLY)
  target_sources(${target} PRIVATE "${folder}/${name}.cpp")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
