// SPDX-License-Identifier: Apache-2.0
// trace.json beside a whole plan.json: it is read, or refused with a reason.
#include "tests/fuzz/damaged_folder.h"

const char* const stowage::fuzz::damaged_file = "trace.json";
