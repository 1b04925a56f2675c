// SPDX-License-Identifier: Apache-2.0
// BERT-base, uncased (Devlin et al. 2018): 12 layers of 12 heads, hidden size 768, for 16 tokens that are all valid and
// all of the first segment. LayerNormalization is ONNX's node of opset 17; Gelu is the exact one, written with Erf.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "driver/networks/network_builder.h"
#include "driver/networks/topologies.h"

namespace stowage {

namespace {

constexpr std::int64_t tokens = 16;
constexpr std::int64_t hidden = 768;
constexpr std::int64_t heads = 12;
constexpr std::int64_t head_size = hidden / heads;
constexpr std::int64_t feed_forward_size = 3072;
constexpr std::int64_t vocabulary = 30522;
constexpr std::int64_t longest_sequence = 512;
constexpr std::int64_t segments = 2;
constexpr int layers = 12;

Value layer_norm(NetworkBuilder& builder, const std::string& name, const Value& x) {
  return builder.pointwise(
      "LayerNormalization", name,
      {x, builder.random_constant(name + ".weight", {hidden}, 1.0, 0.1), builder.bias(name + ".bias", hidden)},
      {{"axis", std::int64_t{-1}}, {"epsilon", 1e-12}});
}

/// x * W + b over the last dimension.
Value linear(NetworkBuilder& builder, const std::string& name, const Value& x, std::int64_t units) {
  const std::int64_t inputs = x.shape.back();
  Shape shape = x.shape;
  shape.back() = units;
  const Value product = builder.node(
      "MatMul", name, {x, builder.weights(name + ".weight", {inputs, units}, inputs, 1.0)}, std::move(shape));
  return builder.add(name + "_add", product, builder.bias(name + ".bias", units));
}

Value embedding(NetworkBuilder& builder, const std::string& name, std::int64_t rows, const Value& ids) {
  const Value table = builder.random_constant(name + ".weight", {rows, hidden}, 0.0, 0.05);
  Shape shape = ids.shape;
  shape.push_back(hidden);
  return builder.node("Gather", name, {table, ids}, std::move(shape), {{"axis", std::int64_t{0}}});
}

Value gelu(NetworkBuilder& builder, const std::string& name, const Value& x) {
  Value y = builder.pointwise("Div", name + "_div", {x, {"sqrt_two", {}}});
  y = builder.pointwise("Erf", name + "_erf", {y});
  y = builder.pointwise("Add", name + "_add", {y, {"one", {}}});
  y = builder.pointwise("Mul", name + "_mul", {x, y});
  return builder.pointwise("Mul", name, {y, {"half", {}}});
}

/// [batch, tokens, hidden] → [batch, heads, tokens, head_size], its last three dimensions ordered by `permutation`.
Value split_heads(NetworkBuilder& builder, const std::string& name, const Value& x,
                  const std::vector<std::int64_t>& permutation) {
  const Shape parts = {builder.batch(), tokens, heads, head_size};
  const Value reshaped = builder.node("Reshape", name + "_reshape", {x, {"shape_of_heads", {4}}}, parts);
  Shape shape;
  for (const std::int64_t d : permutation) shape.push_back(parts[static_cast<std::size_t>(d)]);
  return builder.node("Transpose", name, {reshaped}, std::move(shape), {{"perm", permutation}});
}

Value attention(NetworkBuilder& builder, const std::string& name, const Value& x) {
  const Shape scores = {builder.batch(), heads, tokens, tokens};
  const Value query =
      split_heads(builder, name + "_query_heads", linear(builder, name + "_query", x, hidden), {0, 2, 1, 3});
  const Value key = split_heads(builder, name + "_key_heads", linear(builder, name + "_key", x, hidden), {0, 2, 3, 1});
  const Value value =
      split_heads(builder, name + "_value_heads", linear(builder, name + "_value", x, hidden), {0, 2, 1, 3});
  Value y = builder.node("MatMul", name + "_scores", {query, key}, scores);
  y = builder.pointwise("Div", name + "_scaled", {y, {"sqrt_head_size", {}}});
  y = builder.pointwise("Softmax", name + "_softmax", {y}, {{"axis", std::int64_t{-1}}});
  y = builder.node("MatMul", name + "_context", {y, value}, {builder.batch(), heads, tokens, head_size});
  y = builder.node("Transpose", name + "_merge", {y}, {builder.batch(), tokens, heads, head_size},
                   {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  y = builder.node("Reshape", name + "_merged", {y, {"shape_of_hidden", {3}}}, x.shape);
  return linear(builder, name + "_output", y, hidden);
}

Value encoder_layer(NetworkBuilder& builder, const std::string& name, const Value& x) {
  Value y = builder.add(name + "_attention_residual", attention(builder, name + "_attention", x), x);
  const Value attended = layer_norm(builder, name + "_attention_norm", y);
  y = linear(builder, name + "_intermediate", attended, feed_forward_size);
  y = gelu(builder, name + "_gelu", y);
  y = linear(builder, name + "_output", y, hidden);
  y = builder.add(name + "_output_residual", y, attended);
  return layer_norm(builder, name + "_output_norm", y);
}

void add_shared_constants(NetworkBuilder& builder) {
  builder.constant("sqrt_two", Tensor::scalar(ElementType::f32, std::sqrt(2.0)));
  builder.constant("one", Tensor::scalar(ElementType::f32, 1.0));
  builder.constant("half", Tensor::scalar(ElementType::f32, 0.5));
  builder.constant("sqrt_head_size", Tensor::scalar(ElementType::f32, std::sqrt(static_cast<double>(head_size))));
  // 0 copies the dimension of the input: the batch.
  builder.constant("shape_of_heads", Tensor::of_int64s({4}, std::array<std::int64_t, 4>{0, 0, heads, head_size}));
  builder.constant("shape_of_hidden", Tensor::of_int64s({3}, std::array<std::int64_t, 3>{0, 0, hidden}));
  builder.constant("first_token", Tensor::scalar(ElementType::i64, 0));
}

/// Sum of the embeddings of word, position and segment. The last two are constants here.
Value embed(NetworkBuilder& builder) {
  const Value words = builder.input("input_ids", {builder.batch(), tokens}, ElementType::i64);
  std::array<std::int64_t, tokens> numbers{};
  const Value first_segment = builder.constant("segment_ids", Tensor::of_int64s({1, tokens}, numbers));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  const Value positions = builder.constant("position_ids", Tensor::of_int64s({1, tokens}, numbers));

  Value x = embedding(builder, "word_embedding", vocabulary, words);
  x = builder.add("add_segment", x, embedding(builder, "segment_embedding", segments, first_segment));
  x = builder.add("add_position", x, embedding(builder, "position_embedding", longest_sequence, positions));
  return layer_norm(builder, "embedding_norm", x);
}

}  // namespace

void build_bert_base(NetworkBuilder& builder) {
  add_shared_constants(builder);
  Value x = embed(builder);
  for (int i = 0; i < layers; ++i) x = encoder_layer(builder, fmt::format("layer{}", i), x);
  builder.output(x);
  x = builder.node("Gather", "pooler_token", {x, {"first_token", {}}}, {builder.batch(), hidden},
                   {{"axis", std::int64_t{1}}});
  x = builder.dense("pooler", x, hidden, 1.0);
  builder.output(builder.pointwise("Tanh", "pooled", {x}));
}

}  // namespace stowage
