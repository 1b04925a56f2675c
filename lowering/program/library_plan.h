// SPDX-License-Identifier: Apache-2.0
// What a vendor's library does for an operator that is one matrix product of float32: the management core calls it, and
// it launches kernels of its own. What they do is not known but for their time, which the target says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/target.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/program_step.h"

namespace stowage {

/// Of judgements by cycles, for and against.
inline constexpr std::string_view library_cost_rule = "library-cost";

/// C[m, n] = A[m, k] B[k, n], all of them by rows; of a transposed operand the rows lie as columns.
struct MatrixProduct {
  struct Operand {
    StageTensorId tensor;
    bool transposed = false;
    std::int64_t row = 1;  ///< elements from one row in memory to the next ("leading dimension")
  };
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  Operand a;
  Operand b;
  Operand c;
};

/// The product that stages are, or what it is that is none.
std::variant<MatrixProduct, Decision> matrix_product(const StageList& list);

class LibraryPlan final : public StepPlan {
 public:
  /// Of stages that are `product`. `nest_cycles` is what the cheapest loop nest known takes, where there is one.
  LibraryPlan(StageList stages, MatrixProduct product, Library library, std::optional<std::int64_t> nest_cycles,
              const Target& target);

  [[nodiscard]] const StageList& stages() const override { return stages_; }
  [[nodiscard]] std::int64_t cycles() const override;
  /// What its kernels move and take of the LDM nobody knows.
  [[nodiscard]] Scratchpad scratchpad(const Target& target) const override {
    return {"LDM", 0, target.ldm.available()};
  }
  /// The call, and the stages that it stands for.
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] std::string reason() const override;
  [[nodiscard]] std::vector<PlanTerm> terms() const override { return terms_; }

  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] const MatrixProduct& product() const { return product_; }
  [[nodiscard]] std::optional<std::int64_t> nest_cycles() const { return nest_cycles_; }

 private:
  StageList stages_;
  MatrixProduct product_;
  Library library_;
  std::optional<std::int64_t> nest_cycles_;
  std::vector<PlanTerm> terms_;
};

/// Of the loop nest that was planned, if one was.
std::optional<std::int64_t> cycles_of_nest(const Planned& planned);

/// Of one operator: the call of the library that the target's programs use, or why there is none: it is no product, or
/// takes no less than its loop nest, if it has one, and the kernel behind it `launch_cycles` more than behind a nest.
std::variant<LibraryPlan, Decision> plan_by_library(StageList stages, std::optional<std::int64_t> nest_cycles,
                                                    std::int64_t launch_cycles, const Target& target);

/// The same of a group, which may be of several operators.
std::variant<LibraryCall, Decision> library_call(const Graph& graph, const FusedOperator& group, const Planned& planned,
                                                 std::int64_t launch_cycles, const Target& target);

}  // namespace stowage
