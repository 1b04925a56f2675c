# SPDX-License-Identifier: Apache-2.0
# Installs the headers that programs are meant to include, and those that these include: nothing else of the sources is
# promised to anybody. Run at installation, with `source` (this project) and `destination` (a folder below the prefix).
cmake_policy(VERSION 3.25)
set(pending
  core/diagnostics.h                 # how everything tells what is wrong
  core/graph.h                       # the computation graph
  core/target.h                      # machines
  core/onnx/import.h                 # ONNX files become graphs
  fusion/strategies/strategy.h       # fused operators of a graph
  lowering/ir/loop_nest_parser.h     # loop nests and their text
  lowering/verify/verify.h           # whether a nest keeps the rules
  lowering/program/program.h         # a planned network
  emitter/athread/emit.h             # its C
  emitter/emulation/emulate.h        # which is run
  driver/networks/networks.h         # sample networks
  driver/session/session.h           # from an ONNX file to a plan: what `stowage compile` does
  driver/store/plan_file.h           # folders of plans
  driver/run/check_run.h             # what `stowage run --check` does
  driver/report/plan_tables.h        # tables of a plan
  driver/page/report_page.h)         # the page of a plan
set(headers)
while(pending)
  list(POP_FRONT pending header)
  if(header IN_LIST headers)
    continue()
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${source}/${header} includes REGEX "^#include \"")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    list(APPEND pending ${included})
  endforeach()
endwhile()
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${source}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/${destination}/${folder})
endforeach()
