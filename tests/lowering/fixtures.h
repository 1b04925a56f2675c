// SPDX-License-Identifier: Apache-2.0
// Loop nests written by hand, and a builder that makes writing one bearable. Tests of everything that reads a nest use
// them, so that they do not stand or fall with the planner.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage::fixtures {

/// A range whose largest extent the builder derives.
struct Span {
  IndexExpr start;
  IndexExpr extent;
};

/// Appends statements in program order; ids count from 0. Ranges of variables and largest extents follow by bounds().
class NestBuilder {
 public:
  NestBuilder(std::string name, StageList stages);

  VarId core(const std::string& name, const std::string& iterator, int parts, int stride);
  /// A tensor of the stage list in main memory, row-major.
  NestTensorId tensor(std::size_t stage_tensor, bool written = false);
  /// Placed behind the last buffer, aligned to 32 bytes.
  BufferId buffer(const std::string& name, std::size_t stage_tensor, std::vector<std::int64_t> extents,
                  std::vector<IndexExpr> origin);

  VarId begin_loop(const std::string& name, const IndexExpr& extent, const std::string& iterator);
  void begin_guard(std::vector<IndexExpr> any_positive);
  void end();
  VarId let(const std::string& name, const IndexExpr& value);
  StatementId get(NestTensorId nest_tensor, BufferId buffer, const std::vector<Span>& region,
                  const std::string& note = {});
  StatementId put(NestTensorId nest_tensor, BufferId buffer, const std::vector<Span>& region,
                  const std::string& note = {});
  void wait(StatementId dma);
  void fill(BufferId buffer, double value);
  /// Around a box, in elements of the buffer.
  void fill_around(BufferId buffer, double value, const std::vector<Span>& kept);
  StatementId compute(Compute compute, const std::vector<Span>& box);
  void barrier();

  LoopNest build() &&;

  /// Static bounds of an expression over the variables declared so far.
  [[nodiscard]] Interval range_of(const IndexExpr& e) const;

 private:
  VarId variable(const std::string& name, NestVariable::Kind kind, Interval range);
  StatementId append(Stmt::Node node, const std::string& note = {});
  [[nodiscard]] std::vector<Range> ranges(const std::vector<Span>& spans) const;

  LoopNest nest_;
  struct Open {
    Stmt::Node node;
    StatementId id;
    Block body;
  };
  std::vector<Open> open_;  ///< the nest's body first
  StatementId next_id_;
};

/// C[x,y] = sum_k A[x,k] * B[k,y].
StageList matmul_stages(std::int64_t m, std::int64_t n, std::int64_t k);
/// swTVM section 5.2: M=1, N=K=1024 on one core, buffers x=1, y=128, k=64, loops x, yo, ko, the result zeroed and
/// stored inside yo.
LoopNest paper_matmul();

/// Y[k,y,x] = sum X[c, 2y+r-1, 2x+s-1] * W[k,c,r,s]: X 3x11x11, W 4x3x3x3, Y 4x6x6, padded by one, stride 2.
/// Rows are split over two cores, three each, in tiles of two: the last tile of a core has one row.
LoopNest padded_convolution();

/// T = A + B, Y = 2 * max(T, 0) over 1000 elements: 16 a core on 64 cores in tiles of 6. Core 61 is full, core 62 has
/// 8 elements and core 63 none; T never leaves the LDM.
LoopNest ragged_chain();

/// A nest that means nothing but has everything: core grids, dependent trip counts, lets, guards, clipped and emptied
/// regions. It verifies only by chance; counts, printer and parser do not mind.
LoopNest random_nest(std::mt19937& random);

}  // namespace stowage::fixtures
