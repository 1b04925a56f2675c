// SPDX-License-Identifier: Apache-2.0
// plan.json: a folder is read, or refused with a reason.
#include "tests/fuzz/damaged_folder.h"

const char* const stowage::fuzz::damaged_file = "plan.json";
