// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/emit.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/check.h"
#include "core/parallel.h"
#include "core/quoting.h"
#include "core/storage_box.h"
#include "emitter/athread/kernel.h"
#include "emitter_templates.h"
#include "lowering/model/ldm_room.h"

namespace stowage {
namespace {

/// Of a launch where nobody calls athread_set_num_threads; of Athread, not of a target.
constexpr int threads_by_default = 64;

/// A step that launches a kernel, as the management core sees it.
struct Layer {
  int step = 0;
  int kernel = 0;  ///< index into the kernels
  std::string function;
  std::vector<std::string> tensors;  ///< parameter names, unique within the layer
};

struct Kernel {
  std::string name;
  int first_step = 0;
  std::vector<KernelUser> users;
  KernelText text;
};

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + with.size())) {
    text.replace(at, mark.size(), with);
  }
  return text;
}

/// Kernels are equal where these are; texts of all of a large network would be much memory.
struct KernelHash {
  std::uint64_t name = 0;  ///< goes into the kernel's name
  XXH128_hash_t text{};
};

KernelHash hash_of_kernel(const LoopNest& nest, const Target& target) {
  const std::string canonical = canonical_kernel(nest, target);
  return {XXH64(canonical.data(), canonical.size(), 0), XXH3_128bits(canonical.data(), canonical.size())};
}

/// What a kernel's name begins with; its hash follows. File scope leaves no name that begins with '_'.
std::string kernel_prefix(const std::string& nest) {
  const std::string name = c_name(nest, 32);
  const std::size_t begin = name.find_first_not_of('_');
  return begin == std::string::npos ? "kernel" : identifier_of(name.substr(begin));
}

class ProgramEmitter {
 public:
  explicit ProgramEmitter(const Program& program) : program_(program) {}

  EmittedProgram emit() {
    find_kernels();
    for (Kernel& kernel : kernels_) {
      kernel.text = emit_kernel(nest_of(kernel.first_step), program_.target, kernel.name, kernel.users);
      arena_bytes_ = std::max(arena_bytes_, kernel.text.ldm_bytes);
    }
    EmittedProgram emitted;
    emitted.arena_bytes = arena_bytes_;
    emitted.kernel_of_step.assign(program_.steps.size(), "");
    for (const Layer& layer : layers_) {
      emitted.kernel_of_step[static_cast<std::size_t>(layer.step)] =
          kernels_[static_cast<std::size_t>(layer.kernel)].name;
    }
    emitted.files.push_back({"main.c", main_text(), {}});
    emitted.files.push_back({"layers.h", layers_header(), {}});
    emitted.files.push_back({"layers.c", layers_source(), {}});
    emitted.files.push_back({"layers_mix.h", structs_header(), {}});
    emitted.files.push_back({"sw_rt.h", runtime_header(), {}});
    emitted.files.push_back({"sw_ldm.s.c", std::string(emitter_templates("sw_ldm.s.c")), {}});
    for (const Kernel& kernel : kernels_) emitted.files.push_back(kernel_file(kernel));
    emitted.files.push_back({"Makefile", makefile(), {}});
    return emitted;
  }

 private:
  [[nodiscard]] const LoopNest& nest_of(int step) const {
    return program_.steps[static_cast<std::size_t>(step)].plan()->nest;
  }
  [[nodiscard]] const Graph& graph() const { return program_.fused.graph; }

  void find_kernels() {
    std::vector<KernelHash> hashes(program_.steps.size());
    parallel_for(program_.steps.size(), 0, {}, [&](std::size_t s) {
      if (program_.steps[s].plan() != nullptr)
        hashes[s] = hash_of_kernel(program_.steps[s].plan()->nest, program_.target);
    });
    std::map<std::pair<std::uint64_t, std::uint64_t>, int> known;  // hash → kernel
    IdentifierPool kernel_names;
    IdentifierPool functions;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (program_.steps[s].plan() == nullptr) continue;
      const LoopNest& nest = program_.steps[s].plan()->nest;
      Layer layer;
      layer.step = static_cast<int>(s);
      layer.function = functions.take("layer_" + c_name(nest.name));
      IdentifierPool names;
      for (const NestTensor& tensor : nest.tensors) layer.tensors.push_back(names.take_of_model(tensor.name));

      const KernelHash& hash = hashes[s];
      const auto [found, is_new] =
          known.emplace(std::pair(hash.text.high64, hash.text.low64), static_cast<int>(kernels_.size()));
      layer.kernel = found->second;
      if (is_new) {
        const std::string prefix = kernel_prefix(nest.name);
        kernels_.push_back({kernel_names.take(fmt::format("{}_{:08x}", prefix, hash.name >> 32)), layer.step, {}, {}});
      }
      kernels_[static_cast<std::size_t>(layer.kernel)].users.push_back({layer.function, layer.tensors});
      layers_.push_back(std::move(layer));
    }
  }

  // ---- places in main memory ----

  [[nodiscard]] std::string address(TensorId tensor) const {
    const MemoryAllocation* place = program_.memory.find(tensor);
    check(place != nullptr, "a tensor without a place in main memory");
    return fmt::format("{} + {}", place->area == MemoryAllocation::Area::parameters ? "parameters" : "activations",
                       place->offset);
  }

  /// From the first element to the last; an output of branches run alone may have gaps.
  [[nodiscard]] std::int64_t bytes_of(TensorId id) const {
    const GraphTensor& tensor = graph().tensor(id);
    return box_reach(tensor.shape, box_of(graph(), id).strides) * byte_size(tensor.type);
  }

  [[nodiscard]] std::string address(const Layer& layer, std::size_t tensor) const {
    const LoopNest& nest = nest_of(layer.step);
    const int index = nest.tensors[tensor].tensor;
    const StageTensor& of_stages = nest.stages.tensors[static_cast<std::size_t>(index)];
    if (const auto source = of_stages.in_memory()) return address(*source);
    const StageConstantAllocation* place = program_.memory.find_stage_constant(layer.step, index);
    check(place != nullptr, "a constant without a place in main memory");
    return fmt::format("parameters + {}", place->offset);
  }

  [[nodiscard]] static std::string element_type(const LoopNest& nest, std::size_t tensor) {
    return std::string(c_name_of(nest.stages.tensors[static_cast<std::size_t>(nest.tensors[tensor].tensor)].type));
  }

  [[nodiscard]] std::string prototype(const Layer& layer) const {
    const LoopNest& nest = nest_of(layer.step);
    std::vector<std::string> arguments;
    for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
      arguments.push_back(fmt::format("{} *{}", element_type(nest, t), layer.tensors[t]));
    }
    return fmt::format("void {}({})", layer.function, fmt::join(arguments, ", "));
  }

  [[nodiscard]] std::string title(std::string_view what) const {
    return fmt::format("{} of network {}, for {} (fusion {}, planner {})", what, graph().name(), program_.target.name,
                       program_.fusion, program_.planner);
  }

  // ---- files ----

  [[nodiscard]] std::string main_text() const {
    CWriter out;
    out.comment(title("The main program"));
    out.line("#define SW_MANAGEMENT_CORE");
    out.line("#include <stdint.h>");
    out.blank();
    for (const char* header : {"athread.h", "layers.h", "sw_rt.h"}) out.line(fmt::format("#include \"{}\"", header));
    out.blank();
    out.open("int main(void) {");
    out.comment("allocate");
    const int line = program_.target.main_memory.line_bytes;
    out.line(fmt::format("char *parameters = sw_alloc_aligned({}, {});", line, program_.memory.parameter_bytes));
    const std::string activations = fmt::format("sw_alloc_aligned({}, {});", line, program_.memory.activation_bytes);
    const bool used =
        std::any_of(program_.memory.allocations.begin(), program_.memory.allocations.end(),
                    [](const MemoryAllocation& p) { return p.area == MemoryAllocation::Area::activations; });
    out.line(used ? "char *activations = " + activations : activations);
    out.blank();
    out.comment("parameters and input");
    out.line(fmt::format("sw_read_file(\"params.bin\", parameters, {});", program_.memory.parameter_bytes));
    write_files(out, graph().inputs(), "sw_read_file", "input");
    out.blank();
    out.comment("calculate");
    out.line("athread_init();");
    const int threads = threads_of_launch(program_.target);
    if (threads != threads_by_default) out.line(fmt::format("athread_set_num_threads({});", threads));
    for (const Layer& layer : layers_) write_call(out, layer);
    out.line("athread_halt();");
    out.blank();
    out.comment("output");
    write_files(out, graph().outputs(), "sw_write_file", "output");
    out.line("return 0;");
    out.close();
    return to_text(out.lines());
  }

  void write_files(CWriter& out, std::span<const TensorId> tensors, std::string_view function,
                   std::string_view name) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const GraphTensor& tensor = graph().tensor(tensors[i]);
      out.line(fmt::format("{}(\"{}_{}.bin\", {}, {});  /* {}: {}{} */", function, name, i, address(tensors[i]),
                           bytes_of(tensors[i]), c_comment_text(tensor.name), name_of(tensor.type),
                           to_text(tensor.shape)));
    }
  }

  void write_call(CWriter& out, const Layer& layer) const {
    const LoopNest& nest = nest_of(layer.step);
    std::vector<std::string> arguments;
    for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
      arguments.push_back(fmt::format("({} *)({})", element_type(nest, t), address(layer, t)));
    }
    const std::string call = fmt::format("{}({});", layer.function, fmt::join(arguments, ", "));
    if (call.size() <= 110) {
      out.line(call);
      return;
    }
    out.line(layer.function + "(");
    for (std::size_t t = 0; t < arguments.size(); ++t) {
      out.line(fmt::format("    {}{}", arguments[t], t + 1 < arguments.size() ? "," : ");"));
    }
  }

  [[nodiscard]] std::string layers_header() const {
    CWriter out;
    out.comment(title("The layers"));
    out.line("#ifndef LAYERS_H");
    out.line("#define LAYERS_H");
    out.blank();
    out.line("#include <stdint.h>");
    out.blank();
    for (const Layer& layer : layers_) out.line(prototype(layer) + ";");
    out.blank();
    out.line("#endif");
    return to_text(out.lines());
  }

  [[nodiscard]] std::string layers_source() const {
    CWriter out;
    out.comment(title("The layers' launches on the compute cores"));
    for (const char* header : {"athread.h", "layers.h", "layers_mix.h"}) {
      out.line(fmt::format("#include \"{}\"", header));
    }
    out.blank();
    for (const Kernel& kernel : kernels_) out.line(fmt::format("extern void SLAVE_FUN({})(void *);", kernel.name));
    for (const Layer& layer : layers_) {
      const Kernel& kernel = kernels_[static_cast<std::size_t>(layer.kernel)];
      const FusedOperator& group = program_.steps[static_cast<std::size_t>(layer.step)].group;
      out.blank();
      std::vector<std::string> operators;
      for (const OpId op : group.operators) operators.push_back(graph().op(op).name);
      out.comment(fmt::format("{}: {} ({})", group.name, fmt::join(operators, ", "), group.template_name));
      out.open(prototype(layer) + " {");
      out.line(fmt::format("static struct {}_para para;", kernel.name));
      for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
        out.line(fmt::format("para.{} = {};", kernel.text.parameters[t].name, layer.tensors[t]));
      }
      out.line(fmt::format("athread_spawn({}, &para);", kernel.name));
      out.line("athread_join();");
      out.close();
    }
    return to_text(out.lines());
  }

  [[nodiscard]] std::string structs_header() const {
    CWriter out;
    out.comment("Parameters of the compute-core functions, seen by the functions and by the layers that launch them.");
    out.line("#ifndef LAYERS_MIX_H");
    out.line("#define LAYERS_MIX_H");
    out.blank();
    out.line("#include <stdint.h>");
    for (const Kernel& kernel : kernels_) {
      out.blank();
      out.open(fmt::format("struct {}_para {{", kernel.name));
      for (const KernelParameter& parameter : kernel.text.parameters) {
        out.line(fmt::format("{} *{};", parameter.type, parameter.name));
      }
      const int alignment = alignment_of_parameters(program_.target);
      out.close(alignment == 8 ? "};" : fmt::format("}} __attribute__((aligned({})));", alignment));
    }
    out.blank();
    out.line("#endif");
    return to_text(out.lines());
  }

  [[nodiscard]] std::string runtime_header() const {
    std::string text(emitter_templates("sw_rt.h"));
    text = replaced(std::move(text), "@SW_LDM_BYTES@", std::to_string(program_.target.ldm.bytes));
    text = replaced(std::move(text), "@SW_LDM_RESERVED@", std::to_string(program_.target.ldm.reserved));
    text = replaced(std::move(text), "@SW_LDM_ALIGNMENT@", std::to_string(program_.target.ldm.alignment));
    return replaced(std::move(text), "@SW_ARENA_BYTES@", std::to_string(arena_bytes_));
  }

  [[nodiscard]] EmittedFile kernel_file(const Kernel& kernel) const {
    EmittedFile file;
    file.path = kernel.name + ".s.c";
    file.text = to_text(kernel.text.lines);
    for (std::size_t i = 0; i < kernel.text.lines.size(); ++i) {
      const int statement = kernel.text.lines[i].written_for;
      if (statement >= 0) file.origins.push_back({static_cast<int>(i) + 1, kernel.first_step, statement});
    }
    return file;
  }

  [[nodiscard]] std::string makefile() const {
    std::vector<std::string> objects{"  sw_ldm.s.o"};
    for (const Kernel& kernel : kernels_) objects.push_back(fmt::format("  {}.s.o", kernel.name));
    constexpr std::int64_t mebibyte = 1024 * 1024;
    const std::int64_t memory = program_.memory.parameter_bytes + program_.memory.activation_bytes;
    // What the program itself and its stacks need comes on top.
    const std::int64_t share = std::max<std::int64_t>(1024, memory / mebibyte + 512);
    std::string text(emitter_templates("Makefile"));
    text = replaced(std::move(text), "@PROGRAM@", c_name(graph().name()) + "_sw");
    text = replaced(std::move(text), "@OBJECTS@", fmt::format("{}", fmt::join(objects, " \\\n")));
    text = replaced(std::move(text), "@SIMD@", program_.target.cores.vector_lanes > 1 ? " -msimd" : "");
    text = replaced(std::move(text), "@CORES@", std::to_string(threads_of_launch(program_.target)));
    return replaced(std::move(text), "@SHARE_MIB@", std::to_string(share));
  }

  const Program& program_;
  std::vector<Kernel> kernels_;
  std::vector<Layer> layers_;
  std::int64_t arena_bytes_ = 8;
};

}  // namespace

EmittedProgram emit_athread(const Program& program) { return ProgramEmitter(program).emit(); }

}  // namespace stowage
