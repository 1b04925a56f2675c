// SPDX-License-Identifier: Apache-2.0
// Plans a sample network, with no header but installed ones.
#include <iostream>

#include <core/diagnostics.h>
#include <driver/networks/networks.h>
#include <driver/session/session.h>

int main() {
  stowage::Diagnostics diagnostics;
  const bool written = static_cast<bool>(stowage::write_network("lenet", {}, "lenet.onnx", diagnostics));
  std::cout << stowage::format_diagnostics(diagnostics) << (written ? "lenet.onnx is written\n" : "failed\n");
  if (!written) return 1;
  stowage::CompileRequest request;
  request.model = "lenet.onnx";
  const auto compilation = stowage::compile(request, diagnostics);
  std::cout << stowage::format_diagnostics(diagnostics);
  if (!compilation) return 1;
  std::cout << "lenet is planned by stowage " << stowage::stowage_version() << "\n";
  return 0;
}
