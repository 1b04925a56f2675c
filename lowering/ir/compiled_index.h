// SPDX-License-Identifier: Apache-2.0
// Index expressions made ready for evaluation millions of times, over a plain array of values: counts, the verifier
// and the interpreter walk nests with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/index_expr.h"

namespace stowage {

/// An expression asks for an entry that its table does not have. A nest that was verified never does.
struct LookupOutside : InternalError {
  explicit LookupOutside(std::string words) : InternalError(words, CodeLocation::here()), text(std::move(words)) {}
  std::string text;
};

class CompiledIndex {
 public:
  struct Linear {
    std::int64_t coefficient = 0;
    std::size_t slot = 0;
  };

  CompiledIndex() = default;
  /// Variable v is found in slot v.index(), the value of read k (tensor_value) in slot first_read + k.
  explicit CompiledIndex(const IndexExpr& e, std::size_t first_read = 0);

  [[nodiscard]] std::int64_t operator()(std::span<const std::int64_t> values) const {
    std::int64_t sum = constant_;
    for (const Linear& term : linear_) sum += term.coefficient * values[term.slot];
    for (const Nested& term : nested_) sum += term.coefficient * evaluate(term, values);
    return sum;
  }

  [[nodiscard]] std::int64_t constant() const { return constant_; }
  [[nodiscard]] std::span<const Linear> linear() const { return linear_; }
  [[nodiscard]] bool is_affine() const { return nested_.empty(); }

 private:
  struct Nested {
    std::int64_t coefficient = 1;
    IndexAtom::Kind kind = IndexAtom::Kind::variable;
    std::int64_t number = 0;  ///< divisor, or slot of the read
    std::int64_t bound = 0;
    std::vector<CompiledIndex> args;
    std::shared_ptr<const IndexTable> table;
  };
  static std::int64_t evaluate(const Nested& term, std::span<const std::int64_t> values);

  std::int64_t constant_ = 0;
  std::vector<Linear> linear_;
  std::vector<Nested> nested_;
};

}  // namespace stowage
