# SPDX-License-Identifier: Apache-2.0
# Run by CTest: cmake -D program=… -D source=… -D work=… -P skips_test.cmake
# A test that skips is no passed one, its cases are counted, and what fails besides is no skipped one.
set(tests)
foreach(name IN ITEMS "passes" "skips three" "skips and fails")
  string(APPEND tests "add_test(\"${name}\" \"${program}\" \"seeded: ${name}\")\n"
    "set_tests_properties(\"${name}\" PROPERTIES SKIP_REGULAR_EXPRESSION \"cases skipped: [0-9]\")\n")
endforeach()
file(REMOVE_RECURSE ${work})
file(WRITE ${work}/CTestTestfile.cmake "${tests}")
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure WORKING_DIRECTORY ${work}
                OUTPUT_FILE ${work}/log.txt ERROR_QUIET)
execute_process(COMMAND bash ${source}/tests/sum_up.sh ${work}/log.txt ${work}/Testing/Temporary/LastTest.log
                OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT line STREQUAL "1 passed, 1 failed, 3 skipped")
  file(READ ${work}/log.txt log)
  message(FATAL_ERROR "summed up as '${line}':\n${log}")
endif()
