// SPDX-License-Identifier: Apache-2.0
// Writes ONNX models: nodes and weights are appended in execution order, then the model is saved as one file.
// Used by the sample networks and by tests that need a model with a certain form.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/file_writer.h"
#include "core/graph.h"

namespace stowage {

class ModelWriter {
 public:
  /// `about` becomes the model's description; it should say how to make the file again.
  ModelWriter(std::string name, int opset, std::string about);
  ModelWriter(ModelWriter&&) noexcept;
  ModelWriter& operator=(ModelWriter&&) noexcept;
  ~ModelWriter();

  void add_input(const std::string& name, ElementType type, const Shape& shape);
  void add_output(const std::string& name, ElementType type, const Shape& shape);
  /// An input or output with named (dynamic) dimensions: a dimension is a number or a name.
  void add_input(const std::string& name, ElementType type, const std::vector<std::string>& dimensions);
  void add_output(const std::string& name, ElementType type, const std::vector<std::string>& dimensions);
  /// A weight, stored as raw data.
  void add_constant(const std::string& name, const Tensor& value);
  /// Bytes of a constant that is made while the file is written, so that a model of a gigabyte needs no memory:
  /// fills `block` with the bytes from `offset` on (offsets are multiples of block_size).
  using FillBlock = std::function<void(std::size_t offset, std::span<std::byte> block)>;
  static constexpr std::size_t block_size = 1 << 16;
  void add_constant(const std::string& name, ElementType type, const Shape& shape, FillBlock fill);
  /// Real attributes are stored as 32-bit floats, as ONNX has no others. An absent operand is an empty name.
  void add_node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, const Attributes& attributes = {});

  /// Writes the file as FileWriter does. Returns its path; fails without a diagnostic when stopped. Errors:
  /// cannot-write, and output-exists where a file is there that is to be kept.
  Result<std::string> save(const std::string& path, Diagnostics& diagnostics, std::stop_token stop = {},
                           Existing existing = Existing::replace) const;

 private:
  struct Model;
  std::unique_ptr<Model> model_;
};

}  // namespace stowage
