// SPDX-License-Identifier: Apache-2.0
// Of every tensor in main memory that a nest writes, which core has written each of its elements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lowering/check/boxes.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

class TensorWriters {
 public:
  explicit TensorWriters(const LoopNest& nest);

  /// False: a tensor is too large for that to be known.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] bool is_written(NestTensorId nest_tensor) const { return written_.contains(nest_tensor); }
  /// Elements that the calls below have gone through.
  [[nodiscard]] std::int64_t visited() const { return visited_; }

  struct Element {
    std::vector<std::int64_t> at;  ///< coordinates
    int core = 0;                  ///< that has written it
    StatementId statement;
  };
  /// A core writes a box. The first element of it that another core has written.
  std::optional<Element> put(NestTensorId nest_tensor, const ElementBox& box, int core, StatementId statement);
  /// The first element of a box that another core has written.
  [[nodiscard]] std::optional<Element> of_another(NestTensorId nest_tensor, const ElementBox& box, int core);

  struct Missing {
    NestTensorId nest_tensor;
    std::int64_t elements = 0;  ///< that nobody has written
    std::int64_t of = 0;        ///< elements of the tensor
    std::vector<std::int64_t> first;
  };
  [[nodiscard]] std::vector<Missing> missing() const;

 private:
  /// Of each element of a tensor there is one, so that it is small.
  struct Writer {
    static constexpr int nobody = -1;
    int core = nobody;
    StatementId statement;
    [[nodiscard]] bool is_another(int than) const { return core != nobody && core != than; }
  };
  template <class Visit>
  void each(NestTensorId nest_tensor, const ElementBox& box, const Visit& visit);
  [[nodiscard]] const Shape& shape_of(NestTensorId nest_tensor) const;

  const LoopNest& nest_;
  std::map<NestTensorId, std::vector<Writer>> written_;  ///< by element; none where it is too large
  bool complete_ = true;
  std::int64_t visited_ = 0;
};

}  // namespace stowage
