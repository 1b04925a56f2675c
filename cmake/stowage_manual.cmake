# SPDX-License-Identifier: Apache-2.0
set(STOWAGE_ZSH_FUNCTIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
  "where completions for zsh are installed (packages of Debian: share/zsh/vendor-completions)")

# stowage_manual(PROGRAM): manual pages and completions of a program, as this very program writes them, are built and
# installed with it.
function(stowage_manual program)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/manual)
  set(script ${PROJECT_SOURCE_DIR}/cmake/write_manual.cmake)
  add_custom_command(OUTPUT ${folder}/written
    COMMAND ${CMAKE_COMMAND} -D program=${program} -D tool=$<TARGET_FILE:${program}> -D folder=${folder} -P ${script}
    DEPENDS ${program} ${script}
    COMMENT "Writing manual pages and completions of ${program}"
    VERBATIM)
  add_custom_target(${program}_manual ALL DEPENDS ${folder}/written)
  install(DIRECTORY ${folder}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${folder}/completions/bash RENAME ${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${folder}/completions/zsh RENAME _${program} DESTINATION ${STOWAGE_ZSH_FUNCTIONS})
  install(FILES ${folder}/completions/fish RENAME ${program}.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endfunction()
