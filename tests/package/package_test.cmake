# SPDX-License-Identifier: Apache-2.0
# Run by CTest: cmake -D build=… -D work=… -D consumer=… -D compiler=… -P package_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
if(sanitize)
  string(APPEND flags " -fsanitize=${sanitize}")
endif()
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${consumer} -B ${work}/build -D CMAKE_PREFIX_PATH=${work}/prefix
    -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${CMAKE_COMMAND} -E chdir ${work} ${work}/build/consumer)
if(NOT output MATCHES "lenet.onnx is written" OR NOT EXISTS ${work}/lenet.onnx)
  message(FATAL_ERROR "the consumer did not do its work:\n${output}")
endif()
