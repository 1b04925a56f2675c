// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm: C[x,y] = sum_k A[x,k] * B[k,y], the axis names of the papers.
#include <fmt/format.h>

#include "core/operators/define.h"

namespace stowage::operators {
namespace {

OperatorDefinition matmul(Definer& d) {
  const StageTensorId a = d.operand(0);
  const StageTensorId b = d.operand(1);
  d.require_numbers({a});
  d.require_same_type({a, b});
  const Shape shape_a = d.shape(a);
  const Shape shape_b = d.shape(b);
  if (shape_a.empty() || shape_b.empty()) d.refuse("shape-mismatch", "a matrix product with a scalar");
  const bool has_x = shape_a.size() > 1;
  const bool has_y = shape_b.size() > 1;
  const Shape batch_a(shape_a.begin(), shape_a.end() - (has_x ? 2 : 1));
  const Shape batch_b(shape_b.begin(), shape_b.end() - (has_y ? 2 : 1));
  const Shape batch = broadcast_shape(d, batch_a, batch_b);
  const std::int64_t depth = shape_a.back();
  if (depth != shape_b[shape_b.size() - (has_y ? 2 : 1)]) {
    d.refuse("shape-mismatch",
             fmt::format("shapes {} and {} have no common depth", to_text(shape_a), to_text(shape_b)));
  }

  StageDraft stage(d, "matmul");
  std::vector<IndexExpr> batch_axes;
  for (std::size_t k = 0; k < batch.size(); ++k) batch_axes.push_back(stage.axis(fmt::format("b{}", k), batch[k]));
  const auto batch_at = [&](const Shape& own) {
    std::vector<IndexExpr> at;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const std::size_t axis = batch.size() - own.size() + k;
      at.push_back(own[k] == 1 && batch[axis] != 1 ? IndexExpr(0) : batch_axes[axis]);
    }
    return at;
  };
  std::vector<IndexExpr> a_at = batch_at(batch_a);
  std::vector<IndexExpr> b_at = batch_at(batch_b);
  const IndexExpr x = has_x ? stage.axis("x", shape_a[shape_a.size() - 2]) : IndexExpr(0);
  const IndexExpr y = has_y ? stage.axis("y", shape_b.back()) : IndexExpr(0);
  const IndexExpr k = stage.reduction_axis("k", depth);
  if (has_x) a_at.push_back(x);
  a_at.push_back(k);
  b_at.push_back(k);
  if (has_y) b_at.push_back(y);
  const ScalarExpr left = stage.read(a, std::move(a_at));
  const ScalarExpr right = stage.read(b, std::move(b_at));
  stage.output(Reduction::sum, left * right, {}, "C");
  return d.done();
}

OperatorDefinition gemm(Definer& d) {
  const StageTensorId a = d.operand(0);
  const StageTensorId b = d.operand(1);
  d.require_numbers({a});
  d.require_same_type(d.operands());
  d.require_rank(a, 2, 2);
  d.require_rank(b, 2, 2);
  const ElementType type = d.type(a);
  const double alpha = float_attribute(d.attributes(), "alpha", 1);
  const double beta = float_attribute(d.attributes(), "beta", 1);
  const bool trans_a = int_attribute(d.attributes(), "transA", 0) != 0;
  const bool trans_b = int_attribute(d.attributes(), "transB", 0) != 0;
  const bool has_c = d.has(2) && beta != 0;
  if (!is_float(type) && (alpha != 1 || (has_c && beta != 1))) {
    d.refuse("unsupported-element-type",
             fmt::format("Gemm of {} with alpha {} and beta {}", name_of(type), alpha, beta));
  }
  const Shape shape_a = d.shape(a);
  const Shape shape_b = d.shape(b);
  const Shape result = {shape_a[trans_a ? 1 : 0], shape_b[trans_b ? 0 : 1]};
  if (shape_a[trans_a ? 0 : 1] != shape_b[trans_b ? 1 : 0]) {
    d.refuse("shape-mismatch",
             fmt::format("shapes {}{} and {}{} have no common depth", to_text(shape_a), trans_a ? " transposed" : "",
                         to_text(shape_b), trans_b ? " transposed" : ""));
  }
  if (d.has(2) && (d.rank(d.operand(2)) > 2 || broadcast_shape(d, result, d.shape(d.operand(2))) != result)) {
    d.refuse("shape-mismatch", fmt::format("operand C of shape {} does not broadcast to {}",
                                           to_text(d.shape(d.operand(2))), to_text(result)));
  }

  StageDraft product(d, "matmul");
  const IndexExpr x = product.axis("x", result[0]);
  const IndexExpr y = product.axis("y", result[1]);
  const IndexExpr k = product.reduction_axis("k", shape_a[trans_a ? 0 : 1]);
  const ScalarExpr left = product.read(a, trans_a ? std::vector{k, x} : std::vector{x, k});
  const ScalarExpr right = product.read(b, trans_b ? std::vector{y, k} : std::vector{k, y});
  if (alpha == 1 && !has_c) {
    product.output(Reduction::sum, left * right);
    return d.done();
  }
  const StageTensorId sum = product.intermediate("AB", Reduction::sum, left * right);

  StageDraft scale(d, "scale");
  scale.axis("x", result[0]);
  scale.axis("y", result[1]);
  ScalarExpr value = scale.read_broadcast(sum);
  if (alpha != 1) value = value * scalar_constant(type, alpha);
  if (has_c) {
    ScalarExpr c = scale.read_broadcast(d.operand(2));
    if (beta != 1) c = c * scalar_constant(type, beta);
    value = value + c;
  }
  scale.output(value);
  return d.done();
}

}  // namespace

std::vector<OperatorRow> matmul_rows() {
  return {
      {"MatMul",
       "matrix product, batched and broadcast as in NumPy",
       {"A", "B"},
       2,
       {},
       guarded<matmul>,
       {"Y"},
       ReducesOver::product},
      {"Gemm",
       "alpha*A*B + beta*C of matrices, each of A and B transposed or not",
       {"A", "B", "C"},
       2,
       {{"alpha", "float", false, "factor of the product, default 1"},
        {"beta", "float", false, "factor of C, default 1"},
        {"transA", "int", false, "1: A is given transposed; default 0"},
        {"transB", "int", false, "1: B is given transposed; default 0"}},
       guarded<gemm>,
       {"Y"},
       ReducesOver::product},
  };
}

}  // namespace stowage::operators
