// SPDX-License-Identifier: Apache-2.0
// The program as a function: reads the command line, then shows the window, or exports a pane without one.
#pragma once

namespace stowage::inspector {

/// Exit codes as the command line's: 0 done, 1 the input or the export failed, 2 usage, 3 a fault of ours.
int run_inspector(int argc, char** argv);

}  // namespace stowage::inspector
