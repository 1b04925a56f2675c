// SPDX-License-Identifier: Apache-2.0
// Where tests find the project's own files. The two paths are known to places.cpp alone, so that the other objects are
// the same in every checkout and a compiler cache serves them all.
#pragma once

#include <filesystem>

namespace stowage::test {

/// The root of the checkout that the tests were built from.
std::filesystem::path source_folder();

/// The build folder of the preset, where the tool and the tests lie.
std::filesystem::path build_folder();

}  // namespace stowage::test
