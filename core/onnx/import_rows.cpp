// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/number_text.h"
#include "core/onnx/node_import.h"
#include "core/operators.h"

namespace stowage::onnx_import {
namespace {

using enum AttributeForm;

using Rules = std::vector<AttributeRule>;

/// Appends rules to rules, for forms that grew.
Rules with(Rules rules, const Rules& more) {
  rules.insert(rules.end(), more.begin(), more.end());
  return rules;
}

// clang-format off
std::vector<ImportRow> build_table() {
  const Rules window = {{"auto_pad", text}, {"kernel_shape", integers}, {"pads", integers}, {"strides", integers}};
  const Rules conv = with(window, {{"dilations", integers}, {"group", integer}});
  const Rules transposed = with(conv, {{"output_padding", integers}, {"output_shape", integers}});
  const Rules rounded = with(window, {{"ceil_mode", integer}});
  const Rules dilated = with(rounded, {{"dilations", integers}});
  const Rules average = {{"count_include_pad", integer}};
  const Rules maximum = {{"storage_order", integer}};
  const Rules gemm = {{"alpha", real}, {"beta", real}, {"transA", integer}, {"transB", integer}};
  const Rules batch_norm = {{"epsilon", real}, {"momentum", real}};
  const Rules layer_norm = {{"axis", integer}, {"epsilon", real}, {"stash_type", integer}};
  const Rules lrn = {{"alpha", real}, {"beta", real}, {"bias", real}, {"size", integer, true}};
  const Rules reduce = {{"axes", integers}, {"keepdims", integer}};
  const Rules reduce_operand = {{"keepdims", integer}, {"noop_with_empty_axes", integer}};
  const Rules slice = {{"axes", integers}, {"ends", integers, true}, {"starts", integers, true}};
  const Rules pad = {{"mode", text}, {"pads", integers, true}, {"value", real}};
  const Rules cast = {{"saturate", integer}, {"round_mode", text}};
  const Rules resize = {{"coordinate_transformation_mode", text}, {"cubic_coeff_a", real}, {"exclude_outside", integer},
                        {"extrapolation_value", real}, {"mode", text}, {"nearest_mode", text}};
  const Rules resize_some = {{"antialias", integer}, {"axes", integers}, {"keep_aspect_ratio_policy", text}};
  const Rules constant = {{"value", tensor}, {"sparse_value", sparse_tensor}};
  const Rules constant_scalar = {{"value_float", real}, {"value_floats", reals}, {"value_int", integer},
                                 {"value_ints", integers}, {"value_string", text}, {"value_strings", texts}};
  const Rules branches = {{"then_branch", graph, true}, {"else_branch", graph, true}};

  std::vector<ImportRow> rows = {
      // name, since opset, operands, outputs, attributes, kind, import
      {"AveragePool",        7,  {1, 1},          1, with(window, average), "AveragePool", import_pool},
      {"AveragePool",        10, {1, 1},          1, with(rounded, average), "AveragePool", import_pool},
      {"AveragePool",        19, {1, 1},          1, with(dilated, average), "AveragePool", import_pool},
      {"BatchNormalization", 7,  {5, 5},          1, with(batch_norm, {{"spatial", integer}}), "BatchNormalization", import_batch_normalization},
      {"BatchNormalization", 9,  {5, 5},          1, batch_norm, "BatchNormalization", import_batch_normalization},
      {"BatchNormalization", 14, {5, 5},          1, with(batch_norm, {{"training_mode", integer}}), "BatchNormalization", import_batch_normalization},
      {"Cast",               6,  {1, 1},          1, {{"to", integer, true}}, "Cast", import_cast},
      {"Cast",               19, {1, 1},          1, with(cast, {{"to", integer, true}}), "Cast", import_cast},
      {"CastLike",           15, {2, 2},          1, cast, "Cast", import_cast_like},
      {"Clip",               6,  {1, 1},          1, {{"max", real}, {"min", real}}, "Clip", import_clip_attributes},
      {"Clip",               11, {1, 3},          1, {}, "Clip", import_clip},
      {"Concat",             4,  {1, variadic}, 1, {{"axis", integer, true}}, "Concat", import_concat},
      {"Constant",           1,  {0, 0},          1, {{"value", tensor, true}}, "", import_constant},
      {"Constant",           11, {0, 0},          1, constant, "", import_constant},
      {"Constant",           12, {0, 0},          1, with(constant, constant_scalar), "", import_constant},
      {"ConstantOfShape",    9,  {1, 1},          1, {{"value", tensor}}, "", import_constant_of_shape},
      {"Conv",               1,  {2, 3},          1, conv, "Conv", import_conv},
      {"ConvTranspose",      1,  {2, 3},          1, transposed, "ConvTranspose", import_conv_transpose},
      {"Dropout",            7,  {1, 1},          2, {{"ratio", real}}, "", import_dropout},
      {"Dropout",            12, {1, 3},          2, {{"seed", integer}}, "", import_dropout},
      {"Expand",             8,  {2, 2},          1, {}, "Expand", import_expand},
      {"Flatten",            1,  {1, 1},          1, {{"axis", integer}}, "Flatten", import_flatten},
      {"Gather",             1,  {2, 2},          1, {{"axis", integer}}, "Gather", import_gather},
      {"Gemm",               7,  {3, 3},          1, gemm, "Gemm", import_same},
      {"Gemm",               11, {2, 3},          1, gemm, "Gemm", import_same},
      {"HardSigmoid",        6,  {1, 1},          1, {{"alpha", real}, {"beta", real}}, "HardSigmoid", import_same},
      {"Identity",           1,  {1, 1},          1, {}, "", import_alias},
      {"If",                 1,  {1, 1}, any_number, branches, "", import_if},
      {"LRN",                1,  {1, 1},          1, lrn, "LRN", import_same},
      {"LayerNormalization", 17, {2, 3},          3, layer_norm, "LayerNormalization", import_layer_normalization},
      {"LeakyRelu",          6,  {1, 1},          1, {{"alpha", real}}, "LeakyRelu", import_same},
      {"MaxPool",            1,  {1, 1},          1, window, "MaxPool", import_pool},
      {"MaxPool",            8,  {1, 1},          2, with(window, maximum), "MaxPool", import_pool},
      {"MaxPool",            10, {1, 1},          2, with(dilated, maximum), "MaxPool", import_pool},
      {"NonZero",            9,  {1, 1},          1, {}, "", import_non_zero},
      {"Pad",                2,  {1, 1},          1, pad, "Pad", import_pad},
      {"Pad",                11, {2, 3},          1, {{"mode", text}}, "Pad", import_pad},
      {"Pad",                18, {2, 4},          1, {{"mode", text}}, "Pad", import_pad},
      {"Range",              11, {3, 3},          1, {}, "", import_range},
      {"ReduceSum",          1,  {1, 1},          1, reduce, "ReduceSum", import_reduce},
      {"ReduceSum",          13, {1, 2},          1, reduce_operand, "ReduceSum", import_reduce},
      {"Reshape",            5,  {2, 2},          1, {}, "Reshape", import_reshape},
      {"Reshape",            14, {2, 2},          1, {{"allowzero", integer}}, "Reshape", import_reshape},
      {"Resize",             10, {2, 2},          1, {{"mode", text}}, "Resize", import_resize},
      {"Resize",             11, {1, 4},          1, resize, "Resize", import_resize},
      {"Resize",             18, {1, 4},          1, with(resize, resize_some), "Resize", import_resize},
      {"Shape",              1,  {1, 1},          1, {}, "", import_shape},
      {"Shape",              15, {1, 1},          1, {{"start", integer}, {"end", integer}}, "", import_shape},
      {"Size",               1,  {1, 1},          1, {}, "", import_size},
      {"Slice",              1,  {1, 1},          1, slice, "Slice", import_slice},
      {"Slice",              10, {3, 5},          1, {}, "Slice", import_slice},
      {"Softmax",            1,  {1, 1},          1, {{"axis", integer}}, "Softmax", import_softmax_flattening},
      {"Softmax",            13, {1, 1},          1, {{"axis", integer}}, "Softmax", import_softmax},
      {"Split",              2,  {1, 1}, any_number, {{"axis", integer}, {"split", integers}}, "Slice", import_split},
      {"Split",              13, {1, 2}, any_number, {{"axis", integer}}, "Slice", import_split},
      {"Split",              18, {1, 2}, any_number, {{"axis", integer}, {"num_outputs", integer}}, "Slice", import_split},
      {"Squeeze",            1,  {1, 1},          1, {{"axes", integers}}, "Squeeze", import_squeeze},
      {"Squeeze",            13, {1, 2},          1, {}, "Squeeze", import_squeeze},
      {"Transpose",          1,  {1, 1},          1, {{"perm", integers}}, "Transpose", import_transpose},
      {"Unsqueeze",          1,  {1, 1},          1, {{"axes", integers, true}}, "Unsqueeze", import_unsqueeze},
      {"Unsqueeze",          13, {2, 2},          1, {}, "Unsqueeze", import_unsqueeze},
      {"Upsample",           7,  {1, 1},          1, {{"mode", text}, {"scales", reals, true}}, "Resize", import_upsample},
      {"Upsample",           9,  {2, 2},          1, {{"mode", text}}, "Resize", import_upsample},
      {"Where",              9,  {3, 3},          1, {}, "Where", import_same},
  };
  // Operators without attributes that look the same in every opset.
  for (const std::string_view name : {"Abs", "Ceil", "Erf", "Exp", "Floor", "GlobalAveragePool", "GlobalMaxPool", "HardSwish",
                                      "Log", "Neg", "Not", "Relu", "Sigmoid", "Sqrt", "Tanh"}) {
    rows.push_back({name, 1, {1, 1}, 1, {}, name, import_same});
  }
  for (const std::string_view name : {"Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
                                      "MatMul", "Mul", "Or", "PRelu", "Pow", "Sub"}) {
    rows.push_back({name, 1, {2, 2}, 1, {}, name, import_same});
  }
  for (const std::string_view name : {"Max", "Min", "Sum"}) {
    rows.push_back({name, 1, {1, variadic}, 1, {}, name, import_same});
  }
  for (const std::string_view name : {"ReduceMax", "ReduceMean"}) {
    rows.push_back({name, 1, {1, 1}, 1, reduce, name, import_reduce});
    rows.push_back({name, 18, {1, 2}, 1, reduce_operand, name, import_reduce});
  }
  std::sort(rows.begin(), rows.end(), [](const ImportRow& a, const ImportRow& b) {
    return a.name != b.name ? a.name < b.name : a.since < b.since;
  });
  return rows;
}
// clang-format on

int wire_form(AttributeForm form) {
  using onnx::AttributeProto;
  switch (form) {
    case integer: return AttributeProto::INT;
    case real: return AttributeProto::FLOAT;
    case text: return AttributeProto::STRING;
    case integers: return AttributeProto::INTS;
    case reals: return AttributeProto::FLOATS;
    case texts: return AttributeProto::STRINGS;
    case tensor: return AttributeProto::TENSOR;
    case sparse_tensor: return AttributeProto::SPARSE_TENSOR;
    case graph: return AttributeProto::GRAPH;
  }
  fail_check("unknown attribute form");
}

std::string form_name(int form) {
  using onnx::AttributeProto;
  if (!AttributeProto::AttributeType_IsValid(form)) return fmt::format("type {}", form);
  return AttributeProto::AttributeType_Name(static_cast<AttributeProto::AttributeType>(form));
}

}  // namespace

std::span<const ImportRow> import_table() {
  static const std::vector<ImportRow> table = build_table();
  return table;
}

const ImportRow* find_import_row(std::string_view name, int opset) {
  const ImportRow* found = nullptr;
  for (const ImportRow& row : import_table()) {
    if (row.name == name && row.since <= opset) found = &row;
  }
  return found;
}

std::string why_unsupported(std::string_view name, int opset) {
  if (const ImportRow* row = find_import_row(name, opset)) {
    if (row->kind.empty() || find_operator_row(row->kind) != nullptr) return {};
    return "Stowage does not have this operator";
  }
  for (const ImportRow& row : import_table()) {
    if (row.name == name)
      return fmt::format("this operator came with opset {}, but the model uses opset {}", row.since, opset);
  }
  if (name == "Loop" || name == "Scan") return "control flow is not supported";
  return "Stowage does not have this operator";
}

void check_form(const ImportRow& row, NodeImport& node) {
  const int operands = node.operand_count();
  if (operands < row.operands.least || operands > row.operands.maximum) {
    node.refuse("wrong-operand-count",
                fmt::format("has {}; {} in opset {} takes {}", counted(operands, "operand"), row.name, node.opset(),
                            row.operands.least == row.operands.maximum
                                ? std::to_string(row.operands.least)
                                : fmt::format("{} to {}", row.operands.least, row.operands.maximum)));
  }
  for (int slot = 0; slot < row.operands.least; ++slot) {
    if (!node.has_operand(slot)) node.refuse("missing-input", fmt::format("operand {} is missing", slot));
  }
  if (node.node().output_size() == 0) node.refuse("wrong-output-count", "has no output", "name its output");
  for (int slot = row.outputs; slot < node.node().output_size(); ++slot) {
    if (!node.wants(slot)) continue;
    node.refuse("unsupported-output",
                fmt::format("its output {} ('{}') is not supported", slot, node.node().output(slot)),
                "leave the output unused: outputs that only training needs are not made");
  }
  for (const auto& attribute : node.node().attribute()) {
    const auto rule = std::find_if(row.attributes.begin(), row.attributes.end(),
                                   [&](const AttributeRule& r) { return r.name == attribute.name(); });
    if (rule == row.attributes.end()) {
      std::vector<std::string> known;
      for (const AttributeRule& r : row.attributes) known.emplace_back(r.name);
      node.refuse("unknown-attribute",
                  fmt::format("has the attribute '{}', which {} in opset {} does not have", attribute.name(), row.name,
                              node.opset()),
                  known.empty() ? "leave it out" : suggest_name(attribute.name(), known));
    }
    if (!attribute.ref_attr_name().empty()) {
      node.refuse("unsupported-attribute",
                  fmt::format("its attribute '{}' refers to a function's attribute", attribute.name()),
                  "give the attribute a value: this node stands in no function");
    }
    if (attribute.type() != wire_form(rule->form)) {
      node.refuse("wrong-type",
                  fmt::format("its attribute '{}' is {}, not {}", attribute.name(), form_name(attribute.type()),
                              form_name(wire_form(rule->form))),
                  fmt::format("store the attribute as {}", form_name(wire_form(rule->form))));
    }
  }
  for (const AttributeRule& rule : row.attributes) {
    if (rule.required && node.attribute(rule.name) == nullptr) {
      node.refuse("missing-attribute", fmt::format("lacks the attribute '{}'", rule.name));
    }
  }
}

void import_same(NodeImport& node) {
  node.emit(std::string(find_import_row(node.node().op_type(), node.opset())->kind), node.attributes(),
            node.operands());
}

}  // namespace stowage::onnx_import
