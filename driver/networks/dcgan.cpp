// SPDX-License-Identifier: Apache-2.0
// The generator of DCGAN (Radford et al. 2015) as in PyTorch's example: 100 random numbers become a 64x64 image.
#include <fmt/format.h>

#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

void build_dcgan(NetworkBuilder& builder) {
  Value x = builder.input("noise", {builder.batch(), 100, 1, 1});
  x = builder.conv_transpose("deconv1", x, 512, 4, {.gain = 2.0});
  std::int64_t channels = 512;
  for (int layer = 1; layer <= 4; ++layer) {
    x = builder.batch_norm(fmt::format("bn{}", layer), x);
    x = builder.relu(fmt::format("relu{}", layer), x);
    channels /= 2;
    const bool last = layer == 4;
    x = builder.conv_transpose(fmt::format("deconv{}", layer + 1), x, last ? 3 : channels, 4,
                               {.stride = 2, .padding = 1, .gain = last ? 1.0 : 2.0});
  }
  builder.output(builder.pointwise("Tanh", "image", {x}));
}

}  // namespace stowage
