// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/emitted_parts.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/overloaded.h"
#include "core/parallel.h"
#include "lowering/program/canonical_nest.h"
#include "lowering/program/launches.h"
#include "lowering/program/library_plan.h"

namespace stowage {
namespace {

/// Kernels are equal where these are, and so are nests; texts of all of a large network would be much memory.
struct KernelHash {
  std::uint64_t name = 0;  ///< goes into the kernel's name
  XXH128_hash_t text{};
};

using HashKey = std::pair<std::uint64_t, std::uint64_t>;
HashKey key_of(const KernelHash& hash) { return {hash.text.high64, hash.text.low64}; }

KernelHash hash_of(const std::string& text) {
  return {XXH64(text.data(), text.size(), 0), XXH3_128bits(text.data(), text.size())};
}

/// Of the kernels of all steps that launch one. Kernels of equal nests are equal, so they are written down once.
IdVector<StepId, KernelHash> hash_kernels(const Program& program) {
  const std::size_t count = program.steps.size();
  IdVector<StepId, KernelHash> nests(count);
  const auto nest_of = [&](StepId step) -> const LoopNest& { return program.steps[step].plan()->nest; };
  std::vector<StepId> launched;
  for (const StepId s : program.steps.ids()) {
    if (program.steps[s].plan() != nullptr) launched.push_back(s);
  }
  parallel_for(launched.size(), 0, {},
               [&](std::size_t i) { nests[launched[i]] = hash_of(canonical_text(nest_of(launched[i]))); });
  std::map<HashKey, StepId> first;
  std::vector<StepId> different;
  for (const StepId s : launched) {
    if (first.emplace(key_of(nests[s]), s).second) different.push_back(s);
  }
  IdVector<StepId, KernelHash> kernels(count);
  parallel_for(different.size(), 0, {}, [&](std::size_t i) {
    kernels[different[i]] = hash_of(canonical_kernel(nest_of(different[i]), program.target));
  });
  for (const StepId s : launched) kernels[s] = kernels[first.at(key_of(nests[s]))];
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
  using KnownKernels = std::map<HashKey, std::size_t>;

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

    const auto [found, is_new] = known.emplace(key_of(hash), parts_.kernels.size());
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
