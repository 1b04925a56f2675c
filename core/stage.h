// SPDX-License-Identifier: Apache-2.0
// Stages: what an operator computes, as tensor expressions
//
//     out[s...] = finish( reduce_{r...} body( in_k[index_k(s, r)] ... ) )
//
// over spatial axes s (one per output dimension, in order) and reduction axes r. An operator is *defined* by its
// stages; shapes, FLOPs, bytes, fusion kind, loop nest and the plain evaluation all follow from them, so
// that an operator is defined once. Softmax, LayerNormalization and LRN are several stages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "core/index_expr.h"
#include "core/packing.h"
#include "core/scalar_expr.h"
#include "core/tensor.h"

namespace stowage {

enum class Reduction : std::uint8_t { none, sum, product, maximum, minimum };

/// One loop of a stage. In a Stage's expressions axis k is VarId(k).
struct Axis {
  std::string name;
  std::int64_t extent = 1;
};

/// A read of one element of a tensor at every point of the iteration space.
struct Access {
  StageTensorId tensor;
  std::vector<IndexExpr> index;  ///< one per dimension of the tensor, highest first; empty for a scalar
  /// Value outside the tensor. Without it every index is promised to lie inside.
  std::optional<double> padding;
};

struct Stage {
  std::string name;
  StageTensorId output;
  std::vector<Axis> axes;   ///< spatial axes (one per output dimension) first, then reduction axes
  std::size_t spatial = 0;  ///< number of spatial axes
  Reduction reduction = Reduction::none;
  IdVector<ReadId, Access> reads;
  ScalarExpr body;    ///< may use Read and Index, not Accumulator
  ScalarExpr finish;  ///< null, or applied once to each output element; may use Accumulator, Index over
                      ///< spatial axes, and reads whose indices use spatial axes only

  [[nodiscard]] IdRange<VarId> spatial_axes() const { return IdRange<VarId>(spatial); }
};

/// Whether any of the stage's reads is of the tensor.
bool reads(const Stage& stage, StageTensorId tensor);

enum class TensorRole : std::uint8_t { input, constant, intermediate, output };

struct StageTensor {
  std::string name;
  ElementType type = ElementType::f32;
  Shape shape;
  TensorRole role = TensorRole::input;
  std::optional<Tensor> value;     ///< for constants that the definition itself introduces (weights of a Resize …)
  std::optional<TensorId> source;  ///< the graph's tensor, once a group of operators was put together
  /// In main memory, in elements, one per dimension; empty: row-major without gaps.
  std::vector<std::int64_t> strides = {};
  [[nodiscard]] std::vector<std::int64_t> memory_strides() const;  ///< the same, row-major ones written out
  /// An intermediate of which each core of a row of the mesh computes one part, along the first axis, and gets those of
  /// the others by broadcasts (lowering/model/split_reductions.h).
  bool exchanged = false;
  /// How the elements of a constant are packed, of those that its source has; `value` is packed so.
  std::optional<Packing> packing = std::nullopt;

  /// The graph's tensor whose memory it is: a packed one has its own.
  [[nodiscard]] std::optional<TensorId> in_memory() const { return packing ? std::nullopt : source; }
};

/// Stages in an order in which each reads only inputs, constants and outputs of earlier ones. Every tensor of role
/// output is written by one stage, wholly; one of them by the last stage, the others by stages whose results later ones
/// read, so that all stages lead to the last one. Axes of extent 0 are allowed (nothing is computed).
struct StageList {
  IdVector<StageTensorId, StageTensor> tensors;
  IdVector<StageId, Stage> stages;
};

/// The value a reduction starts from (-inf for maximum of floats, lowest value for integers …).
double identity_of(Reduction reduction, ElementType type);

/// Fusion kinds of a stage list, most benign first (after TVM's op patterns).
enum class FusionKind : std::uint8_t {
  element_wise,  ///< every non-constant read is at the output's own index
  broadcast,     ///< reads at the output's index with dimensions dropped
  injective,     ///< one output element from one element of each input, any index
  reduction,     ///< a reduction that is not an anchor
  anchor,        ///< sum of products of two operands (convolution, matmul) or a windowed reduction
  opaque         ///< data-dependent indices
};
FusionKind fusion_kind(const StageList& list);
std::string_view name_of(FusionKind kind);

/// Floating-point or integer operations: points times (body operations + 1 for a reduction) plus finish operations.
std::int64_t flops(const StageList& list);
/// Multiply-adds of sum-of-product stages (the "MACs" that papers print); 0 for others.
std::int64_t multiply_adds(const StageList& list);

/// Checks the promises above (axes, types, indices in range, order); returns the first broken one, or nothing.
std::optional<std::string> verify(const StageList& list);

/// Readable text, one stage a paragraph: "C[x,y] = sum_{k} A[x,k] * B[k,y]".
std::string to_text(const StageList& list);

}  // namespace stowage
