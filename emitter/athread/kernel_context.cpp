// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/kernel_context.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {
namespace {

/// True of names that the lowering makes of an axis alone, like "y_at": those are ours. What it makes of a tensor's or
/// an operator's name is the model's.
bool is_of_axis(const LoopNest& nest, std::string_view name) {
  const auto made_of = [&](std::string_view axis) {
    if (!name.starts_with(axis)) return false;
    std::string_view rest = name.substr(axis.size());
    const std::size_t number = rest.rfind('_') + 1;  // of names that were wanted more than once
    const bool numbered = number > 0 && rest.find_first_not_of("0123456789", number) == std::string_view::npos;
    if (numbered) rest = rest.substr(0, number - 1);
    return rest.empty() || rest == "o" || rest == "_next" || rest == "o_next" || rest == "_at" || rest == "_n" ||
           rest == "_core";
  };
  return std::any_of(nest.stages.stages.begin(), nest.stages.stages.end(), [&](const Stage& stage) {
    return std::any_of(stage.axes.begin(), stage.axes.end(), [&](const Axis& axis) { return made_of(axis.name); });
  });
}

}  // namespace

KernelContext::KernelContext(const LoopNest& loop_nest, const Target& its_target, bool is_canonical)
    : nest(loop_nest),
      target(its_target),
      canonical(is_canonical),
      barriers(team_barriers(loop_nest)),
      rows(known_rows(loop_nest)) {
  for (RegisterChain& chain : register_chains(loop_nest)) {
    const StatementId sum = chain.sum->id;
    chains.emplace(sum, std::move(chain));
  }
  for (SlidingWindow& window : sliding_windows(loop_nest)) {
    const StatementId start = window.chain.start->id;
    windows.emplace(start, std::move(window));
  }
  const auto name = [&](IdentifierPool& from, const std::string& given, std::string_view kind, std::size_t i) {
    return canonical ? from.take(fmt::format("{}{}", kind, i)) : from.take_of_model(given);
  };
  std::size_t rank = 0;
  for (const Buffer& buffer : nest.buffers) rank = std::max(rank, buffer.extents.size());
  for (std::size_t d = 0; d < rank; ++d) {  // used inside the braces of a transfer
    pool.take(fmt::format("n{}_", d));
    pool.take(fmt::format("i{}_", d));
  }
  for (const NestTensorId i : nest.tensors.ids())
    tensors.push_back(name(pool, nest.tensors[i].name, "tensor", i.index()));
  for (std::size_t i = 0; i < nest.variables.size(); ++i) {
    const std::string& given = nest.variables[i].name;
    const bool own = !canonical && is_of_axis(nest, given);
    variables.push_back(own ? pool.take(given) : name(pool, given, "variable", i));
  }
  IdentifierPool members;
  for (const BufferId i : nest.buffers.ids()) {
    buffers.push_back(name(members, nest.buffers[i].name, "buffer", i.index()));
  }
  para = "para";  // "para" is reserved in the pools, so that it is free here
  para_reply = members.take("reply_para");
  name_dma(*this);
  for (auto& [id, names] : dma) names.reply = members.take(names.reply);
  for (auto& [buffer, names] : by_slots) names.reply = members.take(names.reply);
}

Interval KernelContext::range(VarId variable) const {
  check(variable.index() < nest.variables.size(), "an expression of a nest has a variable that is not the nest's");
  return nest.variables[variable.index()].range;
}

std::string KernelContext::table(const std::shared_ptr<const IndexTable>& wanted) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i] == wanted || (tables[i]->name == wanted->name && tables[i]->values == wanted->values)) {
      return table_names[i];
    }
  }
  tables.push_back(wanted);
  table_names.push_back(canonical ? pool.take(fmt::format("table{}", tables.size() - 1))
                                  : pool.take_of_model(wanted->name));
  return table_names.back();
}

std::string KernelContext::index(const IndexExpr& e, bool wide) {
  IndexNames names;
  names.variable = [this](VarId v) { return variables.at(v.index()); };
  names.range = [this](VarId v) { return range(v); };
  names.read_value = [this](ReadId number) { return first_element(BufferId(number.index())); };
  names.table = [this](const std::shared_ptr<const IndexTable>& t) { return table(t); };
  return c_index(e, names, wide);
}

Interval KernelContext::bounds_of(const IndexExpr& e) const {
  return bounds(e, [this](VarId v) { return range(v); });
}

std::string KernelContext::slot(const BufferUse& use) {
  std::string text = index(use.slot);
  // "(ko % 2)" needs no parentheses between brackets; "(a) + (b)" would.
  if (text.starts_with('(') && text.ends_with(')')) {
    int depth = 0;
    const auto closed = std::find_if(text.begin(), text.end(), [&](char c) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      return depth == 0;
    });
    if (closed + 1 == text.end()) text = text.substr(1, text.size() - 2);
  }
  return fmt::format("[{}]", text);
}

std::string KernelContext::box(const BufferUse& use) {
  const Buffer& held = nest.buffers[use.buffer];
  std::string text = "ldm->" + buffers[use.buffer];
  if (held.slots > 1) text += slot(use);
  if (held.pitch > 0) text += ".box";
  return text;
}

std::string KernelContext::element(const BufferUse& use, const std::vector<std::string>& local) {
  const Buffer& held = nest.buffers[use.buffer];
  check(local.size() == held.extents.size(), "a buffer is indexed with another rank than it has");
  std::string text = box(use);
  for (const std::string& index : local) text += fmt::format("[{}]", index);
  if (local.empty()) text += "[0]";
  return text;
}

std::string KernelContext::first_element(BufferId buffer) {
  check(nest.buffers.contains(buffer), "the value of a buffer that is not there");
  return element(buffer, std::vector<std::string>(nest.buffers[buffer].extents.size(), "0"));
}

const StageTensor& KernelContext::stage_tensor(NestTensorId nest_tensor) const {
  return nest.stages.tensors[nest.tensors[nest_tensor].tensor];
}

}  // namespace stowage
