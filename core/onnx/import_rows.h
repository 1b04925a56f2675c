// SPDX-License-Identifier: Apache-2.0
// The import table: how every ONNX operator looks from which opset on, and what becomes of it. An operator whose form
// changed between opsets has one row for each form. HACKING.md says how to add one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stowage::onnx_import {

class NodeImport;

enum class AttributeForm : std::uint8_t { integer, real, text, integers, reals, texts, tensor, sparse_tensor, graph };

struct AttributeRule {
  std::string_view name;
  AttributeForm form;
  bool required = false;
};

inline constexpr int any_number = 1 << 30;
/// Operands of Concat, Max …: an operator's definition nests one expression for each, so there is a bound.
inline constexpr int variadic = 1024;

struct OperandCount {
  int least = 1;
  int maximum = 1;
};

struct ImportRow {
  std::string_view name;  ///< in ONNX
  int since = 1;          ///< first opset in which it looks so; a later row of the same name ends this one
  OperandCount operands;
  int outputs = 1;  ///< how many of its outputs Stowage makes
  std::vector<AttributeRule> attributes;
  std::string_view kind;  ///< the operator of core/operators.h that it needs; empty: none, it vanishes on import
  void (*import)(NodeImport& node);
};

/// Sorted by name, then by opset.
std::span<const ImportRow> import_table();
/// The row in force at an opset, or null.
const ImportRow* find_import_row(std::string_view name, int opset);
/// Empty if the operator is supported at this opset, else why not.
std::string why_unsupported(std::string_view name, int opset);

/// Refuses operands, outputs and attributes that the row does not know.
void check_form(const ImportRow& row, NodeImport& node);

// Rows' functions, by family.
void import_same(NodeImport& node);  ///< operands and attributes stay as they are
void import_if(NodeImport& node);

void import_alias(NodeImport& node);
void import_dropout(NodeImport& node);
void import_constant(NodeImport& node);
void import_constant_of_shape(NodeImport& node);
void import_shape(NodeImport& node);
void import_size(NodeImport& node);
void import_range(NodeImport& node);
void import_non_zero(NodeImport& node);

void import_reshape(NodeImport& node);
void import_flatten(NodeImport& node);
void import_squeeze(NodeImport& node);
void import_unsqueeze(NodeImport& node);
void import_transpose(NodeImport& node);
void import_expand(NodeImport& node);
void import_slice(NodeImport& node);
void import_split(NodeImport& node);
void import_pad(NodeImport& node);
void import_gather(NodeImport& node);
void import_concat(NodeImport& node);

void import_conv(NodeImport& node);
void import_conv_transpose(NodeImport& node);
void import_pool(NodeImport& node);
void import_batch_normalization(NodeImport& node);
void import_layer_normalization(NodeImport& node);
void import_softmax_flattening(NodeImport& node);  ///< before opset 13: over all axes from `axis` on
void import_softmax(NodeImport& node);

void import_clip_attributes(NodeImport& node);
void import_clip(NodeImport& node);
void import_reduce(NodeImport& node);
void import_cast(NodeImport& node);
void import_cast_like(NodeImport& node);

void import_upsample(NodeImport& node);
void import_resize(NodeImport& node);

}  // namespace stowage::onnx_import
