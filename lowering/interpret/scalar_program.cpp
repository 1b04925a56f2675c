// SPDX-License-Identifier: Apache-2.0
#include "lowering/interpret/scalar_program.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/element_arithmetic.h"

namespace stowage {
namespace {

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

double unary(UnaryOp op, double a) {
  switch (op) {
    case UnaryOp::negate: return -a;
    case UnaryOp::exp: return std::exp(a);
    case UnaryOp::log: return std::log(a);
    case UnaryOp::sqrt: return std::sqrt(a);
    case UnaryOp::erf: return std::erf(a);
    case UnaryOp::tanh: return std::tanh(a);
    case UnaryOp::floor: return std::floor(a);
    case UnaryOp::ceil: return std::ceil(a);
    case UnaryOp::abs: return std::fabs(a);
    case UnaryOp::sin: return std::sin(a);
    case UnaryOp::cos: return std::cos(a);
    case UnaryOp::round: return std::nearbyint(a);
    case UnaryOp::logical_not: break;
  }
  fail_check("operation on a floating-point number that has none");
}

std::int64_t unary(UnaryOp op, ElementType type, std::int64_t a) {
  switch (op) {
    case UnaryOp::negate: return static_cast<std::int64_t>(-bits(a));
    case UnaryOp::abs: return is_signed(type) && a < 0 ? static_cast<std::int64_t>(-bits(a)) : a;
    case UnaryOp::logical_not: return a == 0 ? 1 : 0;
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round: return a;
    default: break;
  }
  fail_check("operation on an integer that has none");
}

double binary(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add: return a + b;
    case BinaryOp::subtract: return a - b;
    case BinaryOp::multiply: return a * b;
    case BinaryOp::divide: return a / b;
    case BinaryOp::minimum: return minimum_of(a, b);
    case BinaryOp::maximum: return maximum_of(a, b);
    case BinaryOp::power: return std::pow(a, b);
    default: break;
  }
  fail_check("operation on floating-point numbers that have none");
}

std::int64_t binary(BinaryOp op, ElementType type, std::int64_t a, std::int64_t b) {
  const bool is_unsigned = type == ElementType::u64;
  const bool less = is_unsigned ? bits(a) < bits(b) : a < b;
  switch (op) {
    case BinaryOp::add: return static_cast<std::int64_t>(bits(a) + bits(b));
    case BinaryOp::subtract: return static_cast<std::int64_t>(bits(a) - bits(b));
    case BinaryOp::multiply: return static_cast<std::int64_t>(bits(a) * bits(b));
    case BinaryOp::divide: return integer_quotient(type, a, b);
    case BinaryOp::minimum: return less ? a : b;
    case BinaryOp::maximum: return less ? b : a;
    case BinaryOp::power: return integer_power(type, a, b);
    case BinaryOp::logical_and: return a != 0 && b != 0 ? 1 : 0;
    case BinaryOp::logical_or: return a != 0 || b != 0 ? 1 : 0;
    default: break;
  }
  fail_check("operation on integers that have none");
}

template <class T>
std::int64_t compared(BinaryOp op, T a, T b) {
  if (op == BinaryOp::less) return a < b ? 1 : 0;
  if (op == BinaryOp::less_equal) return a <= b ? 1 : 0;
  return a == b ? 1 : 0;
}

bool is_comparison(BinaryOp op) { return op == BinaryOp::less || op == BinaryOp::less_equal || op == BinaryOp::equal; }

BinaryOp step_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return BinaryOp::add;
    case Reduction::product: return BinaryOp::multiply;
    case Reduction::maximum: return BinaryOp::maximum;
    case Reduction::minimum: return BinaryOp::minimum;
    case Reduction::none: break;
  }
  fail_check("no reduction to take a step of");
}

}  // namespace

double combined(Reduction reduction, ElementType type, double a, double b) {
  return rounded(type, binary(step_of(reduction), a, b));
}

std::int64_t combined(Reduction reduction, ElementType type, std::int64_t a, std::int64_t b) {
  return wrapped(type, binary(step_of(reduction), type, a, b));
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
    return static_cast<std::size_t>(read->read);
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
        fill_real([&](std::size_t i) { return unary(operation.unary, a.real[i]); });
      } else {
        fill_whole([&](std::size_t i) { return unary(operation.unary, type, a.whole[i]); });
      }
      break;
    case Operation::Kind::binary:
      if (is_comparison(operation.binary)) {
        if (real_operands) {
          fill_whole([&](std::size_t i) { return compared(operation.binary, a.real[i], b.real[i]); });
        } else if (operation.operand_type == ElementType::u64) {
          fill_whole([&](std::size_t i) { return compared(operation.binary, bits(a.whole[i]), bits(b.whole[i])); });
        } else {
          fill_whole([&](std::size_t i) { return compared(operation.binary, a.whole[i], b.whole[i]); });
        }
      } else if (real_operands && operation.binary == BinaryOp::multiply) {  // the two that matter for speed
        fill_real([&](std::size_t i) { return a.real[i] * b.real[i]; });
      } else if (real_operands && operation.binary == BinaryOp::add) {
        fill_real([&](std::size_t i) { return a.real[i] + b.real[i]; });
      } else if (real_operands) {
        fill_real([&](std::size_t i) { return binary(operation.binary, a.real[i], b.real[i]); });
      } else {
        fill_whole(
            [&](std::size_t i) { return binary(operation.binary, operation.operand_type, a.whole[i], b.whole[i]); });
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
