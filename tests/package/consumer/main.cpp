// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <core/diagnostics.h>
#include <driver/networks/networks.h>

int main() {
  stowage::Diagnostics diagnostics;
  const bool written = static_cast<bool>(stowage::write_network("lenet", {}, "lenet.onnx", diagnostics));
  std::cout << stowage::format_diagnostics(diagnostics) << (written ? "lenet.onnx is written\n" : "failed\n");
  return written ? 0 : 1;
}
