// SPDX-License-Identifier: Apache-2.0
#include "lowering/interpret/scalar_program.h"

#include <algorithm>

#include "core/element_arithmetic.h"
#include "core/scalar_operation.h"

namespace stowage {
double combined(Reduction reduction, ElementType type, double a, double b) {
  double result = 0;
  with_float_operation(step_of(reduction), [&](auto&& f) { result = f(a, b); });
  return rounded(type, result);
}

std::int64_t combined(Reduction reduction, ElementType type, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  with_integer_operation(step_of(reduction), type, [&](auto&& f) { result = f(a, b); });
  return wrapped(type, result);
}

ScalarProgram::ScalarProgram(const ScalarExpr& e, std::size_t reads, std::size_t axes)
    : register_count_(reads + 1), result_type_(e->type) {
  result_ = add(e, reads, axes);
  std::sort(reads_.begin(), reads_.end());
  reads_.erase(std::unique(reads_.begin(), reads_.end()), reads_.end());
}

std::size_t ScalarProgram::add(const ScalarExpr& e, std::size_t reads, std::size_t axes) {
  const auto operand = [&](const ScalarExpr& child) { return add(child, reads, axes); };
  if (const auto* read = std::get_if<ScalarNode::Read>(&e->value)) {
    reads_.push_back(read->read);
    return read->read.index();
  }
  if (std::holds_alternative<ScalarNode::Accumulator>(e->value)) return reads;
  if (const auto* constant = std::get_if<ScalarNode::Constant>(&e->value)) {
    constants_.push_back({register_count_, rounded(e->type, constant->value),
                          is_float(e->type) ? 0 : to_integer(e->type, constant->value)});
    return register_count_++;
  }
  if (const auto* constant = std::get_if<ScalarNode::IntConstant>(&e->value)) {
    constants_.push_back(
        {register_count_, to_float(e->type, ElementType::i64, constant->value), wrapped(e->type, constant->value)});
    return register_count_++;
  }
  if (const auto* index = std::get_if<ScalarNode::Index>(&e->value)) {
    index_inputs_.push_back({register_count_, e->type, CompiledIndex(index->value, axes)});
    return register_count_++;
  }
  Operation operation;
  operation.type = e->type;
  if (const auto* one = std::get_if<ScalarNode::Unary>(&e->value)) {
    operation.kind = Operation::Kind::unary;
    operation.unary = one->op;
    operation.operand_type = one->a->type;
    operation.a = operand(one->a);
  } else if (const auto* two = std::get_if<ScalarNode::Binary>(&e->value)) {
    operation.kind = Operation::Kind::binary;
    operation.binary = two->op;
    operation.operand_type = two->a->type;
    operation.a = operand(two->a);
    operation.b = operand(two->b);
  } else if (const auto* choice = std::get_if<ScalarNode::Select>(&e->value)) {
    operation.kind = Operation::Kind::select;
    operation.operand_type = choice->a->type;
    operation.condition = operand(choice->condition);
    operation.a = operand(choice->a);
    operation.b = operand(choice->b);
  } else {
    const auto& cast = std::get<ScalarNode::Cast>(e->value);
    operation.kind = Operation::Kind::cast;
    operation.operand_type = cast.a->type;
    operation.a = operand(cast.a);
  }
  operation.target = register_count_;
  operations_.push_back(operation);
  return register_count_++;
}

std::vector<Strip> ScalarProgram::registers() const {
  std::vector<Strip> registers(register_count_);
  for (Strip& strip : registers) {
    strip.real.resize(strip_length);
    strip.whole.resize(strip_length);
  }
  for (const Constant& constant : constants_) {
    std::fill(registers[constant.target].real.begin(), registers[constant.target].real.end(), constant.real);
    std::fill(registers[constant.target].whole.begin(), registers[constant.target].whole.end(), constant.whole);
  }
  return registers;
}

void ScalarProgram::run(std::vector<Strip>& registers, std::size_t length) const {
  for (const Operation& operation : operations_) run(operation, registers, length);
}

void ScalarProgram::run(const Operation& operation, std::vector<Strip>& registers, std::size_t length) {
  Strip& target = registers[operation.target];
  const Strip& a = registers[operation.a];
  const Strip& b = registers[operation.b];
  const ElementType type = operation.type;
  const auto fill_real = [&](auto&& value) {
    for (std::size_t i = 0; i < length; ++i) target.real[i] = rounded(type, value(i));
  };
  const auto fill_whole = [&](auto&& value) {
    for (std::size_t i = 0; i < length; ++i) target.whole[i] = wrapped(type, value(i));
  };
  const bool real_operands = is_float(operation.operand_type);
  switch (operation.kind) {
    case Operation::Kind::unary:
      if (real_operands) {
        with_float_operation(operation.unary,
                             [&](auto&& f) { fill_real([&](std::size_t i) { return f(a.real[i]); }); });
      } else {
        with_integer_operation(operation.unary, type,
                               [&](auto&& f) { fill_whole([&](std::size_t i) { return f(a.whole[i]); }); });
      }
      break;
    case Operation::Kind::binary:
      if (real_operands && is_comparison(operation.binary)) {
        with_float_comparison(operation.binary, [&](auto&& f) {
          fill_whole([&](std::size_t i) -> std::int64_t { return f(a.real[i], b.real[i]) ? 1 : 0; });
        });
      } else if (real_operands) {
        with_float_operation(operation.binary,
                             [&](auto&& f) { fill_real([&](std::size_t i) { return f(a.real[i], b.real[i]); }); });
      } else {
        with_integer_operation(operation.binary, operation.operand_type,
                               [&](auto&& f) { fill_whole([&](std::size_t i) { return f(a.whole[i], b.whole[i]); }); });
      }
      break;
    case Operation::Kind::select: {
      const Strip& condition = registers[operation.condition];
      if (real_operands) {
        fill_real([&](std::size_t i) { return condition.whole[i] != 0 ? a.real[i] : b.real[i]; });
      } else {
        fill_whole([&](std::size_t i) { return condition.whole[i] != 0 ? a.whole[i] : b.whole[i]; });
      }
      break;
    }
    case Operation::Kind::cast:
      if (is_float(type)) {
        fill_real([&](std::size_t i) {
          return real_operands ? a.real[i] : to_float(type, operation.operand_type, a.whole[i]);
        });
      } else {
        fill_whole([&](std::size_t i) { return real_operands ? to_integer(type, a.real[i]) : a.whole[i]; });
      }
      break;
  }
}

}  // namespace stowage
