// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/work_again.h"

#include "lowering/search/physical_limit.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

constexpr double work_again = 3;
constexpr double longer_than_apart = 4;

}  // namespace

CyclesApart::CyclesApart(const GroupModel& model, const Target& target) {
  const PhysicalLimit limit = physical_limit(*model.list, target);
  double between = 0;  // bytes of what one stage hands to the next
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.kind != ModelBuffer::Kind::intermediate) continue;
    const StageTensor& tensor = model.list->tensors[buffer.tensor];
    between += static_cast<double>(element_count(tensor.shape) * byte_size(tensor.type));
  }
  moving_ = (limit.moving_seconds + 2 * between / peak_dma_bandwidth(target)) * target.clock_hz;
  computing_ = limit.computing_seconds * target.clock_hz * static_cast<double>(target.cores.count);
}

bool computes_too_much_again(const GroupWork& work, std::int64_t cycles, const CyclesApart& apart, std::int64_t cores) {
  return work.factor() > work_again && static_cast<double>(cycles) > longer_than_apart * apart.on(cores);
}

}  // namespace stowage
