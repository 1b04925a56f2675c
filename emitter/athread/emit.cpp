// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/emit.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "core/quoting.h"
#include "core/storage_box.h"
#include "emitter/athread/emit_library.h"
#include "emitter/athread/emitted_parts.h"
#include "emitter/athread/kernel.h"
#include "emitter_templates.h"
#include "lowering/model/ldm_room.h"
#include "lowering/program/memory_image.h"

namespace stowage {
namespace {

/// Of a launch where nobody calls athread_set_num_threads; of Athread, not of a target.
constexpr int threads_by_default = 64;

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + with.size())) {
    text.replace(at, mark.size(), with);
  }
  return text;
}

class ProgramEmitter {
 public:
  explicit ProgramEmitter(const Program& program)
      : program_(program), parts_(emitted_parts(program)), texts_(parts_.kernels.size()) {}

  EmittedProgram emit() {
    for (std::size_t k = 0; k < texts_.size(); ++k) {
      const Kernel& kernel = parts_.kernels[k];
      texts_[k] = emit_kernel(nest_of(kernel.first_step), program_.target, kernel.name, kernel.users);
      arena_bytes_ = std::max(arena_bytes_, texts_[k].ldm_bytes);
    }
    EmittedProgram emitted;
    emitted.arena_bytes = arena_bytes_;
    emitted.kernel_of_step.assign(program_.steps.size(), "");
    for (const Layer& layer : parts_.layers) emitted.kernel_of_step[layer.step] = parts_.kernel_of(layer).name;
    for (const ManagedLayer& layer : parts_.managed) emitted.kernel_of_step[layer.step] = layer.function;
    emitted.files.push_back({"main.c", main_text(), {}});
    emitted.files.push_back({"layers.h", layers_header(), {}});
    emitted.files.push_back({"layers.c", layers_source(), {}});
    if (any_managed()) emitted.files.push_back({"layers_management.c", management_source(), {}});
    if (library() != nullptr) emitted.files.push_back({"layers_library.c", library_source(), {}});
    emitted.files.push_back({"layers_mix.h", structs_header(), {}});
    emitted.files.push_back({"sw_rt.h", runtime_header(), {}});
    if (has_vectors()) emitted.files.push_back({"sw_vectors.h", std::string(emitter_templates("sw_vectors.h")), {}});
    emitted.files.push_back({"sw_ldm.s.c", std::string(emitter_templates("sw_ldm.s.c")), {}});
    for (std::size_t k = 0; k < texts_.size(); ++k) emitted.files.push_back(kernel_file(k));
    for (const Spawn& spawn : parts_.spawns) emitted.files.push_back({spawn.kernels + ".s.c", spawn_source(spawn), {}});
    emitted.files.push_back({"Makefile", makefile(), {}});
    return emitted;
  }

 private:
  [[nodiscard]] bool has_vectors() const { return program_.target.cores.vector_lanes > 1; }
  [[nodiscard]] const LoopNest& nest_of(StepId step) const { return program_.steps[step].plan()->nest; }
  [[nodiscard]] bool any_managed() const {
    return std::any_of(parts_.managed.begin(), parts_.managed.end(), [&](const ManagedLayer& layer) {
      return program_.steps[layer.step].on_management_core() != nullptr;
    });
  }
  /// That a step calls, of which a program has one; null where none does.
  [[nodiscard]] const Library* library() const {
    for (const ManagedLayer& layer : parts_.managed) {
      if (const LibraryPlan* plan = program_.steps[layer.step].by_library()) return &plan->library();
    }
    return nullptr;
  }
  [[nodiscard]] const Graph& graph() const { return program_.fused.graph; }

  // ---- places in main memory ----

  [[nodiscard]] static std::string address(const MemoryRange& range) {
    return fmt::format("{} + {}", range.area == MemoryAllocation::Area::parameters ? "parameters" : "activations",
                       range.offset);
  }

  [[nodiscard]] std::string address(TensorId tensor) const { return address(memory_range(program_, tensor)); }

  /// From the first element to the last; an output of branches run alone may have gaps.
  [[nodiscard]] std::int64_t bytes_of(TensorId id) const {
    const GraphTensor& tensor = graph().tensor(id);
    return box_reach(tensor.shape, box_of(graph(), id).strides) * byte_size(tensor.type);
  }

  [[nodiscard]] std::string address(StepId step, StageTensorId index) const {
    return address(memory_range(program_, step, index));
  }

  [[nodiscard]] static std::string element_type(const LoopNest& nest, NestTensorId tensor) {
    return std::string(c_name_of(nest.stages.tensors[nest.tensors[tensor].tensor].type));
  }

  [[nodiscard]] std::string prototype(const Layer& layer) const {
    const LoopNest& nest = nest_of(layer.step);
    std::vector<std::string> arguments;
    for (const NestTensorId t : layer.tensors.ids()) {
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
    auto managed = parts_.managed.begin();
    const auto call_managed_before = [&](StepId step) {
      for (; managed != parts_.managed.end() && managed->step < step; ++managed) write_call(out, *managed);
    };
    for (const Layer& layer : parts_.layers) {
      call_managed_before(layer.step);
      write_call(out, layer);
      const Spawn* const spawn = parts_.spawn_of(layer);
      if (spawn != nullptr && &parts_.layers[spawn->layers.back()] == &layer) out.line(spawn->function + "();");
    }
    call_managed_before(StepId(program_.steps.size()));
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
    for (const NestTensorId t : layer.tensors.ids()) {
      arguments.push_back(
          fmt::format("({} *)({})", element_type(nest, t), address(layer.step, nest.tensors[t].tensor)));
    }
    write_call(out, layer.function, arguments);
  }

  void write_call(CWriter& out, const ManagedLayer& layer) const {
    const StageList& stages = program_.steps[layer.step].step_plan()->stages();
    std::vector<std::string> arguments;
    for (const StageTensorId t : layer.parameters)
      arguments.push_back(fmt::format("({} *)({})", c_name_of(stages.tensors[t].type), address(layer.step, t)));
    write_call(out, layer.function, arguments);
  }

  static void write_call(CWriter& out, const std::string& function, const std::vector<std::string>& arguments) {
    const std::string call = fmt::format("{}({});", function, fmt::join(arguments, ", "));
    if (call.size() <= 110) {
      out.line(call);
      return;
    }
    out.line(function + "(");
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
    for (const Layer& layer : parts_.layers) out.line(prototype(layer) + ";");
    for (const ManagedLayer& layer : parts_.managed) {
      out.line(prototype_of(layer, *program_.steps[layer.step].step_plan()) + ";");
    }
    if (!parts_.spawns.empty()) {
      out.blank();
      out.comment("Layers that are not launched by themselves only say where their tensors are; these launch them.");
      for (const Spawn& spawn : parts_.spawns) out.line(fmt::format("void {}(void);", spawn.function));
    }
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
    const auto declare = [&](const std::string& kernel) {
      out.line(fmt::format("extern void SLAVE_FUN({})(void *);", kernel));
    };
    std::set<std::string> alone;
    for (const Layer& layer : parts_.layers) {
      if (parts_.spawn_of(layer) == nullptr) alone.insert(parts_.kernel_of(layer).name);
    }
    for (const Kernel& kernel : parts_.kernels) {
      if (alone.contains(kernel.name)) declare(kernel.name);
    }
    for (const Spawn& spawn : parts_.spawns) declare(spawn.kernels);
    if (!parts_.spawns.empty()) out.blank();
    for (const Spawn& spawn : parts_.spawns)
      out.line(fmt::format("static struct {}_para {}_para;", spawn.kernels, spawn.function));
    for (const Layer& layer : parts_.layers) write_layer(out, layer);
    for (const Spawn& spawn : parts_.spawns) {
      out.blank();
      out.comment(fmt::format("{} layers, from {} to {}", spawn.layers.size(),
                              parts_.layers[spawn.layers.front()].function,
                              parts_.layers[spawn.layers.back()].function));
      out.open(fmt::format("void {}(void) {{", spawn.function));
      write_launch(out, spawn.kernels, spawn.function + "_para");
      out.close();
    }
    return to_text(out.lines());
  }

  void write_headers_of_steps(CWriter& out, std::initializer_list<const char*> standard) const {
    out.line("#define SW_MANAGEMENT_CORE");
    for (const char* header : standard) out.line(fmt::format("#include {}", header));
    out.blank();
    for (const char* header : {"athread.h", "layers.h", "sw_rt.h"}) out.line(fmt::format("#include \"{}\"", header));
    out.blank();
    out.line("#ifdef SW_EMULATION /* takes what a layer has written */");
    out.line("#define LAYER_DONE(layer) swemu_layer_done(SWEMU_SITE, #layer)");
    out.line("#else");
    out.line("#define LAYER_DONE(layer) (void)0");
    out.line("#endif");
  }

  [[nodiscard]] std::string management_source() const {
    CWriter out;
    out.comment(title("The layers that the management core computes itself"));
    write_headers_of_steps(out, {"<math.h>", "<stdbool.h>", "<stdint.h>"});
    for (const ManagedLayer& layer : parts_.managed) {
      const ProgramStep& step = program_.steps[layer.step];
      if (step.on_management_core() == nullptr) continue;
      out.blank();
      write_title(out, step.group);
      write_managed_layer(out, layer, *step.on_management_core());
    }
    return to_text(out.lines());
  }

  [[nodiscard]] std::string library_source() const {
    CWriter out;
    out.comment(title(fmt::format("The layers that library {} computes", library()->name)));
    write_headers_of_steps(out, {"<stdint.h>"});
    out.blank();
    write_library_header(out, *library());
    for (const ManagedLayer& layer : parts_.managed) {
      const ProgramStep& step = program_.steps[layer.step];
      if (step.by_library() == nullptr) continue;
      out.blank();
      write_title(out, step.group);
      write_library_layer(out, layer, *step.by_library());
    }
    return to_text(out.lines());
  }

  void write_title(CWriter& out, const FusedOperator& group) const {
    std::vector<std::string> operators;
    for (const OpId op : group.operators) operators.push_back(graph().op(op).name);
    out.comment(fmt::format("{}: {} ({})", group.name, fmt::join(operators, ", "), group.template_name));
  }

  void write_layer(CWriter& out, const Layer& layer) const {
    const Spawn* const spawn = parts_.spawn_of(layer);
    const Kernel& kernel = parts_.kernel_of(layer);
    out.blank();
    write_title(out, program_.steps[layer.step].group);
    out.open(prototype(layer) + " {");
    if (spawn == nullptr) out.line(fmt::format("static struct {}_para para;", kernel.name));
    const std::string para = spawn != nullptr ? fmt::format("{}_para.{}", spawn->function, layer.function) : "para";
    const IdVector<NestTensorId, KernelParameter>& parameters = texts_[layer.kernel].parameters;
    for (const NestTensorId t : layer.tensors.ids()) {
      out.line(fmt::format("{}.{} = {};", para, parameters[t].name, layer.tensors[t]));
    }
    if (spawn == nullptr) write_launch(out, kernel.name, "para");
    out.close();
  }

  static void write_launch(CWriter& out, const std::string& kernel, const std::string& para) {
    out.line(fmt::format("athread_spawn({}, &{});", kernel, para));
    out.line("athread_join();");
  }

  /// The compute-core function that runs the kernels of a spawn.
  [[nodiscard]] std::string spawn_source(const Spawn& spawn) const {
    CWriter out;
    out.comment(title(fmt::format("{} kernels in one spawn, one after the other,", spawn.layers.size())));
    for (const char* header : {"slave.h", "layers_mix.h", "sw_rt.h"}) out.line(fmt::format("#include \"{}\"", header));
    out.blank();
    out.comment("A barrier of all cores: a kernel gets from main memory what those before it have put there.");
    out.line("#ifdef SW_EMULATION /* counts and checks each kernel by itself */");
    out.line("#define NEXT_KERNEL(kernel, para) swemu_next_kernel(SWEMU_SITE, #kernel, (para), sizeof *(para))");
    out.line("#else");
    out.line(fmt::format("#define NEXT_KERNEL(kernel, para) {}", barrier_of_all_cores));
    out.line("#endif");
    out.blank();
    std::set<std::string> declared;
    for (const std::size_t layer : spawn.layers) {
      const std::string& name = parts_.kernel_of(parts_.layers[layer]).name;
      if (declared.insert(name).second) out.line(fmt::format("void {}(void *);", name));
    }
    out.blank();
    out.open(fmt::format("void {}(void *arg) {{", spawn.kernels));
    out.comment("in main memory, from where each kernel gets its own parameters");
    out.line(fmt::format("struct {0}_para *para = (struct {0}_para *)arg;", spawn.kernels));
    for (const std::size_t l : spawn.layers) {
      const Layer& layer = parts_.layers[l];
      const std::string& kernel = parts_.kernel_of(layer).name;
      if (l != spawn.layers.front()) out.line(fmt::format("NEXT_KERNEL({}, &para->{});", kernel, layer.function));
      out.line(fmt::format("{}(&para->{});", kernel, layer.function));
    }
    out.close();
    return to_text(out.lines());
  }

  [[nodiscard]] std::string structs_header() const {
    CWriter out;
    out.comment("Parameters of the compute-core functions, seen by the functions and by the layers that launch them.");
    out.line("#ifndef LAYERS_MIX_H");
    out.line("#define LAYERS_MIX_H");
    out.blank();
    out.line("#include <stdint.h>");
    for (std::size_t k = 0; k < texts_.size(); ++k) {
      out.blank();
      out.open(fmt::format("struct {}_para {{", parts_.kernels[k].name));
      for (const KernelParameter& parameter : texts_[k].parameters) {
        out.line(fmt::format("{} *{};", parameter.type, parameter.name));
      }
      const int alignment = alignment_of_parameters(program_.target);
      out.close(alignment == 8 ? "};" : fmt::format("}} __attribute__((aligned({})));", alignment));
    }
    for (const Spawn& spawn : parts_.spawns) {
      out.blank();
      out.open(fmt::format("struct {}_para {{", spawn.kernels));
      for (const std::size_t l : spawn.layers) {
        const Layer& layer = parts_.layers[l];
        out.line(fmt::format("struct {}_para {};", parts_.kernel_of(layer).name, layer.function));
      }
      out.close("};");
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

  [[nodiscard]] EmittedFile kernel_file(std::size_t k) const {
    const std::vector<CLine>& lines = texts_[k].lines;
    EmittedFile file;
    file.path = parts_.kernels[k].name + ".s.c";
    file.text = to_text(lines);
    const StepId step = parts_.kernels[k].first_step;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].written_for) file.origins.push_back({static_cast<int>(i) + 1, step, *lines[i].written_for});
    }
    return file;
  }

  [[nodiscard]] std::string makefile() const {
    std::vector<std::string> objects{"  sw_ldm.s.o"};
    if (any_managed()) objects.emplace_back("  layers_management.o");
    if (library() != nullptr) objects.emplace_back("  layers_library.o");
    for (const Kernel& kernel : parts_.kernels) objects.push_back(fmt::format("  {}.s.o", kernel.name));
    for (const Spawn& spawn : parts_.spawns) objects.push_back(fmt::format("  {}.s.o", spawn.kernels));
    constexpr std::int64_t mebibyte = 1024 * 1024;
    const std::int64_t memory = program_.memory.parameter_bytes + program_.memory.activation_bytes;
    // What the program itself and its stacks need comes on top.
    const std::int64_t share = std::max<std::int64_t>(1024, memory / mebibyte + 512);
    std::string text(emitter_templates("Makefile"));
    text = replaced(std::move(text), "@PROGRAM@", c_name(graph().name()) + "_sw");
    text = replaced(std::move(text), "@OBJECTS@", fmt::format("{}", fmt::join(objects, " \\\n")));
    text = replaced(std::move(text), "@LIBRARY@", library() != nullptr ? " " + library()->link : "");
    text = replaced(std::move(text), "@SIMD@", has_vectors() ? " -msimd" : "");
    text = replaced(std::move(text), "@VECTORS@", has_vectors() ? " sw_vectors.h" : "");
    text = replaced(std::move(text), "@CORES@", std::to_string(threads_of_launch(program_.target)));
    return replaced(std::move(text), "@SHARE_MIB@", std::to_string(share));
  }

  const Program& program_;
  const EmittedParts parts_;
  std::vector<KernelText> texts_;  ///< by kernel
  std::int64_t arena_bytes_ = 8;
};

}  // namespace

EmittedProgram emit_athread(const Program& program) { return ProgramEmitter(program).emit(); }

}  // namespace stowage
