// SPDX-License-Identifier: Apache-2.0
// What goes with a sum in the registers of its blocks (lowering/ir/register_chains.h): where the accumulators of a
// group begin, and what is computed in them before they are stored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emitter/athread/compute_writer.h"
#include "emitter/athread/vector_strips.h"
#include "lowering/ir/register_chains.h"

namespace stowage {

/// Accumulators "acc00", "acc01" … of some rows and of one vector, or lane, at each offset.
struct AccumulatorGroup {
  std::int64_t rows = 1;
  LaneOffsets offsets;
  std::vector<VectorStrip> strips;  ///< of each row
  bool vectors = true;              ///< else plain floats, of one lane
  /// An index over the axes of the sum at a row and a lane of the group.
  std::function<std::vector<IndexExpr>(std::vector<IndexExpr> index, std::int64_t row, std::int64_t lane)> at;
  std::function<bool(BufferId, const std::vector<IndexExpr>&)> is_aligned;
  [[nodiscard]] static std::string row_name(std::int64_t row) { return "acc" + std::to_string(row); }
  [[nodiscard]] std::string name(std::int64_t row, std::size_t vector) const {
    return vector_name(row_name(row), strips, vector);
  }
};

class BlockEnds {
 public:
  explicit BlockEnds(ComputeWriter& sum);

  /// The accumulators' first values: `write_loads` has them from the LDM.
  void write_start(const AccumulatorGroup& group, const std::function<void()>& write_loads);
  /// Computes in the accumulators what stands behind the sum.
  void write_ends(const AccumulatorGroup& group);
  /// How the accumulators are stored: what stands behind the sum was computed vector by vector.
  [[nodiscard]] std::vector<VectorStrip> strips_stored(const AccumulatorGroup& group) const {
    return ends_.empty() ? group.strips : strips_of(group.offsets, true);
  }
  /// Whose results are stored.
  [[nodiscard]] ComputeWriter& stored() { return ends_.empty() ? sum_ : ends_.back(); }

 private:
  [[nodiscard]] std::string trip(bool last);
  void write_end(ComputeWriter& end, const AccumulatorGroup& group);
  std::string vector_of(ComputeWriter& end, ReadId read, const AccumulatorGroup& group, std::int64_t row,
                        std::size_t vector);
  std::string constant_of(const std::string& text);
  [[nodiscard]] static bool goes_on(const ComputeWriter& end, ReadId read);

  ComputeWriter& sum_;
  const RegisterChain* chain_ = nullptr;
  std::vector<ComputeWriter> ends_;
  // Of the group being written.
  std::map<std::string, std::string> vectors_;  ///< names of what was loaded or set, by how
  int temporaries_ = 0;
};

}  // namespace stowage
