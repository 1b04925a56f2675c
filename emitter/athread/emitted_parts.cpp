// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/emitted_parts.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/overloaded.h"
#include "lowering/program/canonical_nest.h"
#include "lowering/program/different_nests.h"
#include "lowering/program/launches.h"
#include "lowering/program/library_plan.h"

namespace stowage {
namespace {

/// Kernels are equal where these are; texts of all of a large network would be much memory.
struct KernelHash {
  std::uint64_t name = 0;  ///< goes into the kernel's name
  XXH128_hash_t text{};
};

KernelHash hash_of_kernel(const LoopNest& nest, const Target& target) {
  const std::string canonical = canonical_kernel(nest, target);
  return {XXH64(canonical.data(), canonical.size(), 0), XXH3_128bits(canonical.data(), canonical.size())};
}

/// Of all steps that launch a kernel; those with equal nests have one, which is written down once.
IdVector<StepId, KernelHash> hash_kernels(const Program& program) {
  const auto by_nest = of_different_nests<KernelHash>(
      program, {}, [&](const Plan& plan) { return hash_of_kernel(plan.nest, program.target); });
  IdVector<StepId, KernelHash> kernels(program.steps.size());
  for (const StepId s : program.steps.ids()) {
    if (program.steps[s].plan() != nullptr) kernels[s] = by_nest.at(program.steps[s].nest_key());
  }
  return kernels;
}

/// What a kernel's name begins with; its hash follows. File scope leaves no name that begins with '_'.
std::string kernel_prefix(const std::string& nest) {
  const std::string name = c_name(nest, 32);
  const std::size_t begin = name.find_first_not_of('_');
  return begin == std::string::npos ? "kernel" : identifier_of(name.substr(begin));
}

class PartsFinder {
 public:
  explicit PartsFinder(const Program& program) : program_(program) {}

  EmittedParts find() {
    find_kernels();
    find_spawns();
    return std::move(parts_);
  }

 private:
  using KnownKernels = std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t>;  ///< by hash

  void find_kernels() {
    const IdVector<StepId, KernelHash> hashes = hash_kernels(program_);
    KnownKernels known;
    for (const StepId s : program_.steps.ids()) {
      std::visit(Overloaded{[](const ViewStep&) {}, [&](const KernelLaunch&) { add_layer(s, hashes[s], known); },
                            [&](const ManagementStep& managed) { add_managed(s, *managed.plan); },
                            [&](const LibraryCall& call) { add_managed(s, *call.plan); }},
                 program_.steps[s].work);
    }
  }

  void add_managed(StepId step, const StepPlan& plan) {
    const std::string function = functions_.take("layer_" + c_name(program_.steps[step].group.name));
    parts_.managed.push_back(managed_layer(step, function, plan));
  }

  void add_layer(StepId step, const KernelHash& hash, KnownKernels& known) {
    const LoopNest& nest = program_.steps[step].plan()->nest;
    Layer layer;
    layer.step = step;
    layer.function = functions_.take("layer_" + c_name(nest.name));
    IdentifierPool names;
    for (const NestTensor& tensor : nest.tensors) layer.tensors.push_back(names.take_of_model(tensor.name));

    const auto [found, is_new] = known.emplace(std::pair(hash.text.high64, hash.text.low64), parts_.kernels.size());
    layer.kernel = found->second;
    if (is_new) {
      const std::string prefix = kernel_prefix(nest.name);
      parts_.kernels.push_back({kernels_.take(fmt::format("{}_{:08x}", prefix, hash.name >> 32)), step, {}});
    }
    parts_.kernels[layer.kernel].users.push_back({layer.function, layer.tensors});
    parts_.layers.push_back(std::move(layer));
  }

  /// Layers stand in the order of spawns and of the kernels in each.
  void find_spawns() {
    std::size_t next = 0;
    for (const std::vector<StepId>& steps : spawns_of(program_.steps)) {
      const std::size_t first = next;
      next += steps.size();
      if (steps.size() < 2) continue;
      const std::string name = c_name(program_.steps[steps.front()].plan()->nest.name);
      Spawn spawn{functions_.take("launch_" + name), kernels_.take("kernels_from_" + name), {}};
      for (std::size_t l = first; l < next; ++l) {
        parts_.layers[l].spawn = parts_.spawns.size();
        spawn.layers.push_back(l);
      }
      parts_.spawns.push_back(std::move(spawn));
    }
  }

  const Program& program_;
  EmittedParts parts_;
  IdentifierPool kernels_;
  IdentifierPool functions_;
};

}  // namespace

EmittedParts emitted_parts(const Program& program) { return PartsFinder(program).find(); }

}  // namespace stowage
