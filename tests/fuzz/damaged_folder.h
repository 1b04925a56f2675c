// SPDX-License-Identifier: Apache-2.0
// A file of a plan folder whose other files are whole: it is read, or refused with a reason. Inputs come from the whole
// file by mistakes in its entries, because damaged bytes are hardly ever JSON.
#pragma once

namespace stowage::fuzz {

/// Each target defines which file.
extern const char* const damaged_file;

}  // namespace stowage::fuzz
