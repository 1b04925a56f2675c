# SPDX-License-Identifier: Apache-2.0
# One Debian package of everything that is installed: cmake --preset package, cmake --build, cpack (docs/install.md).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stowage)
set(CPACK_PACKAGE_CONTACT "The Stowage maintainers <maintainers@stowage.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plans of data movement for processors with scratchpads")
set(CPACK_PACKAGE_DESCRIPTION "Stowage computes for neural networks (ONNX files) how operators are fused, what lies in
the scratchpad when, and where each DMA transfer stands, emits the C code of it, runs that in emulation, and says what
it costs and why.

The package has the tool, the inspector (a desktop program), libraries with headers and a CMake package, manual pages,
completions for bash, zsh and fish, and samples.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what the programs link is what the package depends on
# To run emitted code, to draw graphs, to draw letters without a desktop.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, libc6-dev, graphviz, fonts-dejavu-core, man-db")
# To build against the libraries; StowageConfig.cmake says which is missing.
file(STRINGS cmake/debian_packages.txt development REGEX "^build +(lib[^ ]+|[^ ]+-dev|protobuf-compiler) ")
list(TRANSFORM development REPLACE "^build +([^ ]+) .*" "\\1")
list(JOIN development ", " CPACK_DEBIAN_PACKAGE_SUGGESTS)
include(CPack)
