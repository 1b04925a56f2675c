// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"

namespace stowage::test {

std::filesystem::path source_folder() { return STOWAGE_SOURCE_DIR; }

std::filesystem::path build_folder() { return STOWAGE_BINARY_DIR; }

}  // namespace stowage::test
