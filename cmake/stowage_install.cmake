# SPDX-License-Identifier: Apache-2.0
# Installs headers, documentation and the CMake package. The libraries install themselves (stowage_target.cmake); what each of them
# links is written into StowageConfig.cmake, so that the package looks for exactly what a component needs.
include(CMakePackageConfigHelpers)

install(CODE "set(source \"${PROJECT_SOURCE_DIR}\")\nset(destination \"${CMAKE_INSTALL_INCLUDEDIR}/stowage\")")
install(SCRIPT cmake/install_headers.cmake)
install(FILES LICENSE README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY samples/batch samples/schedules samples/targets samples/templates
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

get_property(STOWAGE_COMPONENTS GLOBAL PROPERTY STOWAGE_COMPONENTS)
set(STOWAGE_LINK_TABLE "")
foreach(component IN LISTS STOWAGE_COMPONENTS)
  get_property(links GLOBAL PROPERTY STOWAGE_LINKS_OF_${component})
  string(APPEND STOWAGE_LINK_TABLE "set(_stowage_links_of_${component} ${links})\n")
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Stowage)
configure_package_config_file(cmake/StowageConfig.cmake.in ${PROJECT_BINARY_DIR}/package/StowageConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/StowageConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/StowageConfig.cmake
  ${PROJECT_BINARY_DIR}/package/StowageConfigVersion.cmake
  DESTINATION ${package_folder})
