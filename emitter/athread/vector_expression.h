// SPDX-License-Identifier: Apache-2.0
// Scalar expressions of float32 as instructions for vectors of four: what may_gather_lanes() accepts.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/scalar_expr.h"
#include "emitter/athread/c_writer.h"

namespace stowage {

class VectorExpression {
 public:
  /// The operands' names in C. Constants and reads are vectors that have been declared.
  struct Operands {
    std::function<std::string(const std::string& constant)> constant;  ///< by its text in C
    std::function<std::string(ReadId)> read;
    std::function<std::string()> accumulator;
  };

  /// Temporaries are numbered from `first_temporary` on.
  VectorExpression(CWriter& out, Operands operands, int first_temporary = 0)
      : out_(out), operands_(std::move(operands)), next_(first_temporary) {}

  /// The name of a vector that has the value of an expression; each different operation once, on a line before.
  std::string value(const ScalarExpr& e);

  /// What has been computed is not known by its name any more: an operand gets another value.
  void forget() { temporaries_.clear(); }
  /// The same where their scope ends, too: their names may be had again.
  void begin_scope() {
    temporaries_.clear();
    next_ = 0;
  }
  [[nodiscard]] int next_temporary() const { return next_; }

 private:
  std::string named(const std::string& text);
  std::string operation(const ScalarNode::Binary& n);
  std::string of_two(std::string_view instruction, const ScalarNode::Binary& n);
  std::string fused(std::string_view instruction, const ScalarNode::Binary& product, const ScalarExpr& third);
  /// The first operand, or the bound where that is beyond it: NaN stays.
  std::string bounded(const ScalarNode::Binary& n, bool from_below);

  CWriter& out_;
  Operands operands_;
  std::map<std::string, std::string> temporaries_;  ///< by what they compute
  int next_ = 0;
};

}  // namespace stowage
