// SPDX-License-Identifier: Apache-2.0
// How the command `sensitivity` is declared.
#pragma once

#include "driver/tool/command_table.h"

namespace stowage {

inline constexpr const char* sensitivity_examples =
    "  stowage sensitivity lenet --key target.ldm.bytes --from 16384 --to 131072\n"
    "  stowage sensitivity lenet --key target.ldm.bytes --from 32768 --to 98304 --step 8192 -o lenet.html\n"
    "  stowage sensitivity lenet --key target.cores.count --from 8 --to 64 --step 8 --json";

void declare_sensitivity(CLI::App& app, Options& all);

}  // namespace stowage
