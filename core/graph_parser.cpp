// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/storage_box.h"
#include "core/text_cursor.h"

namespace stowage {
namespace {

/// A text may promise any shape; so much is made up as zeros at most.
constexpr std::int64_t max_zero_bytes = std::int64_t{4} << 30;

class GraphParser {
 public:
  GraphParser(std::string_view text, const std::string& file, const std::map<std::string, Tensor>& constants,
              Diagnostics& diagnostics)
      : cursor_(text, file, diagnostics), constants_(constants), builder_("") {}

  Result<Graph> run() {
    try {
      cursor_.expect("graph");
      builder_ = GraphBuilder(cursor_.expect_name("the graph"));
      cursor_.expect("{");
    } catch (const SyntaxError&) {
      return Failed{};
    }
    while (!cursor_.at("}") && !cursor_.at_end()) {
      try {
        line();
      } catch (const SyntaxError&) {
        missing_.merge(cursor_.skip_line());
      }
    }
    try {
      cursor_.expect("}");
      if (!cursor_.at_end()) cursor_.fail(cursor_.peek(), "unexpected-token", "the graph has ended before");
      check_places();
    } catch (const SyntaxError&) {
      return Failed{};
    }
    if (cursor_.failed()) return Failed{};
    return std::move(builder_).build();
  }

 private:
  void line() {
    if (cursor_.accept("input")) {
      const Typed tensor = typed_name();
      builder_.add_input(tensor.name, tensor.type, tensor.shape);
      known_.emplace(tensor.name, next_id());
    } else if (cursor_.accept("storage")) {
      const Typed tensor = typed_name();
      builder_.add_storage(tensor.name, tensor.type, tensor.shape);
      known_.emplace(tensor.name, next_id());
    } else if (cursor_.accept("constant")) {
      constant();
    } else if (cursor_.accept("op")) {
      operation();
    } else if (cursor_.accept("place")) {
      place();
    } else if (cursor_.accept("output")) {
      builder_.mark_output(operand());
    } else {
      cursor_.fail(cursor_.peek(), "unexpected-token",
                   "a line begins with input, constant, storage, op, place or output");
    }
  }

  struct Typed {
    std::string name;
    ElementType type = ElementType::f32;
    Shape shape;
  };

  /// A new tensor.
  Typed typed_name() {
    const Token where = cursor_.peek();
    Typed tensor;
    tensor.name = cursor_.expect_name("a tensor");
    if (known_.contains(tensor.name)) {
      cursor_.fail(where, "duplicate-name", fmt::format("there is a tensor '{}' already", tensor.name));
    }
    tensor.type = cursor_.expect_type();
    tensor.shape = cursor_.expect_shape();
    return tensor;
  }

  /// Tensors are numbered as they are added.
  [[nodiscard]] TensorId next_id() const { return TensorId(known_.size()); }

  TensorId operand() {
    const Token where = cursor_.peek();
    const std::string name = cursor_.expect_name("a tensor");
    const auto found = known_.find(name);
    if (found != known_.end()) return found->second;
    if (missing_.contains(name)) cursor_.abandon(where);
    std::vector<std::string> names;
    for (const auto& [known, unused] : known_) names.push_back(known);
    const auto nearest = nearest_name(name, names);
    cursor_.fail(where, "unknown-tensor", fmt::format("no tensor '{}' was defined above", name),
                 nearest ? fmt::format("did you mean '{}'?", *nearest) : "");
  }

  void constant() {
    const Token where = cursor_.peek();
    const Typed tensor = typed_name();
    Tensor value;
    if (cursor_.accept("=")) {
      value = cursor_.expect_elements(tensor.type, tensor.shape);
    } else {
      cursor_.expect("hash");
      const Token hash = cursor_.peek();
      const std::string wanted = cursor_.expect_name("a hash");
      const auto given = constants_.find(tensor.name);
      if (given != constants_.end()) {
        value = given->second;
        if (value.type() != tensor.type || value.shape() != tensor.shape || hash_text(value) != wanted) {
          cursor_.fail(hash, "other-value", fmt::format("the value given for '{}' is not the one meant", tensor.name));
        }
      } else {
        value = zeros(where, tensor);
      }
    }
    builder_.add_constant(tensor.name, std::move(value));
    known_.emplace(tensor.name, next_id());
  }

  Tensor zeros(const Token& where, const Typed& tensor) {
    const std::int64_t bytes = element_count(tensor.shape) * byte_size(tensor.type);
    zero_bytes_ += bytes;
    if (bytes > max_zero_bytes || zero_bytes_ > max_zero_bytes) {
      cursor_.fail(where, "too-large", "the constants of this graph are too large to be made up as zeros");
    }
    return Tensor(tensor.type, tensor.shape, std::vector<std::byte>(static_cast<std::size_t>(bytes)));
  }

  void operation() {
    const Token where = cursor_.peek();
    std::string name = cursor_.expect_name("an operator");
    if (!operator_names_.insert(name).second) {
      cursor_.fail(where, "duplicate-name", fmt::format("there is an operator '{}' already", name));
    }
    cursor_.expect(":");
    std::string kind = cursor_.expect_name("an operator's kind");
    std::vector<std::optional<TensorId>> inputs;
    cursor_.expect("(");
    while (!cursor_.at(")")) {
      if (!inputs.empty()) cursor_.expect(",");
      if (cursor_.accept("_")) {
        inputs.emplace_back();
      } else {
        inputs.emplace_back(operand());
      }
    }
    cursor_.expect(")");
    Attributes attributes;
    if (cursor_.accept("{")) {
      while (!cursor_.at("}")) {
        if (!attributes.empty()) cursor_.expect(",");
        const Token key = cursor_.peek();
        std::string attribute = cursor_.expect_name("an attribute");
        cursor_.expect("=");
        if (!attributes.emplace(attribute, attribute_value()).second) {
          cursor_.fail(key, "duplicate-name", fmt::format("attribute '{}' is given twice", attribute));
        }
      }
      cursor_.expect("}");
    }
    cursor_.expect("->");
    std::vector<std::optional<OutputTensor>> outputs;
    std::set<std::string> names;
    do {
      outputs.emplace_back();
      if (outputs.size() > 1 && cursor_.accept("_")) continue;
      const Token at = cursor_.peek();
      Typed output = typed_name();
      if (!names.insert(output.name).second) {
        cursor_.fail(at, "duplicate-name", fmt::format("tensor '{}' is two outputs", output.name));
      }
      outputs.back() = OutputTensor{std::move(output.name), output.type, std::move(output.shape)};
    } while (cursor_.accept(","));
    std::vector<std::string> origins;
    if (cursor_.accept("from")) {
      do {
        origins.push_back(cursor_.expect_name("an ONNX node"));
      } while (cursor_.accept(","));
    }
    const OpId added = builder_.add_operator(std::move(kind), std::move(name), std::move(attributes), std::move(inputs),
                                             std::move(outputs), std::move(origins));
    for (const TensorId output : outputs_of(builder_.op(added))) known_.emplace(builder_.tensor(output).name, output);
  }

  void place() {
    const Token where = cursor_.peek();
    const TensorId tensor = operand();
    if (!placed_.emplace(tensor, where).second) {
      cursor_.fail(where, "duplicate-name", fmt::format("'{}' has a place already", builder_.tensor(tensor).name));
    }
    StorageBox box;
    cursor_.expect("in");
    box.storage = operand();
    cursor_.expect("at");
    box.offset = cursor_.expect_integer("an offset");
    cursor_.expect("strides");
    cursor_.expect("[");
    while (!cursor_.at("]")) {
      if (!box.strides.empty()) cursor_.expect(",");
      box.strides.push_back(cursor_.expect_integer("a stride"));
    }
    cursor_.expect("]");
    builder_.place(tensor, std::move(box));
  }

  void check_places() {
    for (const auto& [id, where] : placed_) {
      const GraphTensor& tensor = builder_.tensor(id);
      if (!tensor.inside) continue;
      if (const auto broken = broken_box(tensor, builder_.tensor(tensor.inside->storage))) {
        cursor_.fail(where, "impossible-place", *broken);
      }
    }
  }

  AttributeValue attribute_value() {
    if (cursor_.peek().kind == Token::Kind::string) return cursor_.take().text;
    if (cursor_.accept("floats")) {
      cursor_.expect("[");
      cursor_.expect("]");
      return std::vector<double>{};
    }
    if (!cursor_.accept("[")) {
      if (is_integer_next()) return cursor_.expect_integer("an attribute's value");
      return cursor_.expect_number("an attribute's value");
    }
    std::vector<std::int64_t> integers;
    std::vector<double> numbers;
    while (!cursor_.at("]")) {
      if (!integers.empty() || !numbers.empty()) cursor_.expect(",");
      if (numbers.empty() && is_integer_next()) {
        integers.push_back(cursor_.expect_integer("an element"));
      } else {
        numbers.push_back(cursor_.expect_number("an element"));
      }
    }
    const Token end = cursor_.peek();
    cursor_.expect("]");
    if (!integers.empty() && !numbers.empty()) {
      cursor_.fail(end, "mixed-list", "a list holds integers or floating-point numbers, not both");
    }
    if (!numbers.empty()) return numbers;
    return integers;
  }

  [[nodiscard]] bool is_integer_next() const {
    const Token& token = cursor_.peek(cursor_.at("-") ? 1 : 0);
    return token.kind == Token::Kind::integer || token.text == "9223372036854775808";
  }

  TextCursor cursor_;
  const std::map<std::string, Tensor>& constants_;
  GraphBuilder builder_;
  std::map<std::string, TensorId> known_;
  std::map<TensorId, Token> placed_;  ///< tensors that lie in others, and where the text says so
  std::set<std::string> operator_names_;
  std::set<std::string> missing_;  ///< what lines with mistakes may have defined
  std::int64_t zero_bytes_ = 0;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text, Diagnostics& diagnostics,
                          const std::map<std::string, Tensor>& constants, const std::string& file) {
  return GraphParser(text, file, constants, diagnostics).run();
}

}  // namespace stowage
