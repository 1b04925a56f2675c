// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/whole_faults.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

std::vector<Fault> capacity_faults(const LoopNest& nest, const Target& target) {
  std::vector<Fault> faults;
  const auto fault = [&](std::string what) {
    faults.push_back({FaultFamily::capacity, {-1, 0, {}}, std::nullopt, std::move(what)});
  };
  const std::int64_t room = target.ldm.available();
  for (const Buffer& buffer : nest.buffers) {
    if (buffer.offset < 0 || buffer.offset + buffer.bytes() > room)
      fault(fmt::format("buffer {} takes bytes {} to {} of the LDM, which has {} for buffers", buffer.name,
                        buffer.offset, buffer.offset + buffer.bytes(), room));
    if (buffer.offset % target.ldm.alignment != 0)
      fault(fmt::format("buffer {} begins at byte {}, no multiple of {}", buffer.name, buffer.offset,
                        target.ldm.alignment));
  }
  return faults;
}

std::vector<Fault> incomplete_faults(const LoopNest& nest, const TensorWriters& writers) {
  std::vector<Fault> faults;
  for (const TensorWriters::Missing& missing : writers.missing()) {
    faults.push_back({FaultFamily::incomplete,
                      {-1, 0, {}},
                      std::nullopt,
                      fmt::format("no core writes {} of {} elements of {}, the first of them [{}]", missing.elements,
                                  missing.of, nest.tensors[missing.nest_tensor].name, fmt::join(missing.first, ", "))});
  }
  return faults;
}

}  // namespace stowage
