// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/stage_list_parser.h"

#include <optional>

namespace stowage {

std::int64_t NameReader::number(std::string_view what, std::int64_t least, std::int64_t maximum) {
  const Token where = cursor_.peek();
  const std::int64_t value = cursor_.expect_integer(what);
  if (value < least || value > maximum) {
    cursor_.fail(where, "number-out-of-range", fmt::format("{} lies between {} and {}", what, least, maximum));
  }
  return value;
}

std::vector<std::int64_t> NameReader::number_list() {
  std::vector<std::int64_t> numbers;
  cursor_.expect("[");
  while (!cursor_.at("]")) {
    if (!numbers.empty()) cursor_.expect(",");
    numbers.push_back(number("an entry", -max_index_number, max_index_number));
  }
  cursor_.expect("]");
  return numbers;
}

std::vector<IndexExpr> NameReader::index_list(std::string_view open, std::string_view close,
                                              const ExpressionNames& names) {
  std::vector<IndexExpr> list;
  cursor_.expect(open);
  while (!cursor_.at(close)) {
    if (!list.empty()) cursor_.expect(",");
    list.push_back(parse_index(cursor_, names));
  }
  cursor_.expect(close);
  return list;
}

bool StageListParser::read_line() {
  static const std::map<std::string, TensorRole> roles = {{"input", TensorRole::input},
                                                          {"constant", TensorRole::constant},
                                                          {"intermediate", TensorRole::intermediate},
                                                          {"output", TensorRole::output}};
  const auto role = cursor_.peek().kind == Token::Kind::name ? roles.find(cursor_.peek().text) : roles.end();
  if (role != roles.end()) {
    cursor_.take();
    tensor(role->second);
  } else if (cursor_.accept("table")) {
    table();
  } else if (cursor_.accept("stage")) {
    stage();
  } else {
    return false;
  }
  return true;
}

void StageListParser::recover() {
  while (in_stage_ && !cursor_.at_end() && !cursor_.accept("}")) cursor_.take();
  in_stage_ = false;
}

void StageListParser::tensor(TensorRole role) {
  StageTensor tensor;
  tensor.role = role;
  const Token where = cursor_.peek();
  tensor.name = reader_.new_name("a tensor", tensors_);
  tensor.type = cursor_.expect_type();
  tensor.shape = cursor_.expect_shape();
  if (cursor_.accept("source")) {
    tensor.source =
        TensorId(static_cast<std::size_t>(reader_.number("a tensor's number", 0, (std::int64_t{1} << 32) - 1)));
  }
  if (cursor_.accept("packed")) tensor.packing = packing(where, tensor);
  if (role == TensorRole::intermediate) tensor.exchanged = cursor_.accept("exchanged");
  if (cursor_.accept("=")) {
    tensor.value = cursor_.expect_elements(tensor.type, tensor.shape);
  } else if (cursor_.accept("hash")) {
    tensor.value = constant(where, tensor);
  }
  tensors_.emplace(tensor.name, list_.tensors.next_id());
  list_.tensors.push_back(std::move(tensor));
}

Packing StageListParser::packing(const Token& where, const StageTensor& tensor) {
  const auto factor = [&] { return reader_.number("a number of elements", 1, std::int64_t{1} << 40); };
  Packing packing;
  cursor_.expect("[");
  packing.outer = factor();
  cursor_.expect(",");
  packing.extent = factor();
  cursor_.expect(",");
  packing.inner = factor();
  cursor_.expect("]");
  cursor_.expect("by");
  packing.block = factor();
  const std::vector<std::int64_t> all = {packing.outer, packing.extent, packing.inner};
  if (packing.extent % packing.block != 0 || checked_element_count(all) != checked_element_count(tensor.shape)) {
    cursor_.fail(where, "wrong-packing", fmt::format("'{}' cannot be packed so", tensor.name));
  }
  return packing;
}

Tensor StageListParser::constant(const Token& where, const StageTensor& tensor) {
  const Token hash = cursor_.peek();
  const std::string wanted = cursor_.expect_name("a hash");
  const auto given = constants_.find(tensor.name);
  if (given != constants_.end()) {
    if (given->second.type() != tensor.type || given->second.shape() != tensor.shape ||
        hash_text(given->second) != wanted) {
      cursor_.fail(hash, "other-value", fmt::format("the value given for '{}' is not the one meant", tensor.name));
    }
    return given->second;
  }
  const std::int64_t bytes = element_count(tensor.shape) * byte_size(tensor.type);
  if (bytes > max_zero_bytes_ || (zero_bytes_ += bytes) > max_zero_bytes_) {
    cursor_.fail(where, "too-large", "the constants of this nest are too large to be made up as zeros");
  }
  unknown_.emplace(list_.tensors.next_id(), wanted);
  return Tensor(tensor.type, tensor.shape, std::vector<std::byte>(static_cast<std::size_t>(bytes)));
}

void StageListParser::table() {
  IndexTable table;
  const Token where = cursor_.peek();
  table.name = reader_.new_name("a table", tables_);
  cursor_.expect("=");
  table.values = reader_.number_list();
  if (table.values.empty()) cursor_.fail(where, "empty-table", "a table needs an entry");
  tables_.emplace(table.name, std::make_shared<const IndexTable>(table));
}

void StageListParser::stage() {
  const Token where = cursor_.peek();
  Stage stage;
  stage.name = reader_.new_name("a stage", stages_);
  cursor_.expect("{");
  in_stage_ = true;
  // The definition uses the reads that follow it, so its right side is read last.
  stage.output = reader_.known_name("a tensor", tensors_);
  ExpressionNames names;
  names.tables = tables_;
  cursor_.expect("[");
  while (!cursor_.at("]")) {
    if (!stage.axes.empty()) cursor_.expect(",");
    axis(stage, names);
  }
  cursor_.expect("]");
  stage.spatial = stage.axes.size();
  cursor_.expect("=");
  reduction(stage, names);
  const std::size_t body = cursor_.position();
  cursor_.skip_rest_of_line();
  IdVector<ReadId, ElementType> types;
  while (cursor_.accept("#")) read(stage, names, types);
  std::optional<std::size_t> finish;
  if (cursor_.accept("finish")) {
    finish = cursor_.position();
    cursor_.skip_rest_of_line();
  }
  cursor_.expect("}");
  const std::size_t end = cursor_.position();
  cursor_.seek(body);
  stage.body = parse_scalar(cursor_, names, types, nullptr);
  line_must_end();
  if (finish) {
    cursor_.seek(*finish);
    stage.finish = parse_scalar(cursor_, names, types, &stage.body->type);
    line_must_end();
  }
  for (const Access& access : stage.reads) {
    for (const IndexExpr& index : access.index) {
      for (const ReadId other : tensor_values_of(index)) check_read_number(where, other, stage);
    }
  }
  cursor_.seek(end);
  in_stage_ = false;
  stages_.emplace(stage.name, list_.stages.next_id());
  axes_.push_back(std::move(names.variables));
  list_.stages.push_back(std::move(stage));
}

void StageListParser::check_read_number(const Token& where, ReadId read, const Stage& stage) {
  if (stage.reads.contains(read)) return;
  cursor_.fail(where, "unknown-read", fmt::format("the stage has no read @{}", read.index()));
}

void StageListParser::line_must_end() {
  if (!cursor_.at_line_end()) {
    cursor_.fail(cursor_.peek(), "unexpected-token", "the expression should have ended here");
  }
}

void StageListParser::axis(Stage& stage, ExpressionNames& names) {
  Axis axis;
  axis.name = reader_.new_name("an axis", names.variables);
  cursor_.expect("<");
  axis.extent = reader_.number("an extent", 0, max_index_number);
  names.variables.emplace(axis.name, VarId(stage.axes.size()));
  stage.axes.push_back(std::move(axis));
}

void StageListParser::reduction(Stage& stage, ExpressionNames& names) {
  static const std::map<std::string, Reduction> reductions = {{"sum", Reduction::sum},
                                                              {"product", Reduction::product},
                                                              {"max", Reduction::maximum},
                                                              {"min", Reduction::minimum}};
  if (!cursor_.at("over", 1)) return;
  stage.reduction = reader_.known_name("a reduction", reductions);
  cursor_.expect("over");
  while (!cursor_.accept("of")) {
    if (stage.axes.size() > stage.spatial) cursor_.expect(",");
    axis(stage, names);
  }
}

void StageListParser::read(Stage& stage, const ExpressionNames& names, IdVector<ReadId, ElementType>& types) {
  const Token where = cursor_.peek();
  if (reader_.number("a read's number", 0, 1 << 20) != static_cast<std::int64_t>(stage.reads.size())) {
    cursor_.fail(where, "read-out-of-order", fmt::format("read #{} was wanted", stage.reads.size()));
  }
  cursor_.expect("=");
  Access access;
  access.tensor = reader_.known_name("a tensor", tensors_);
  access.index = reader_.index_list("[", "]", names);
  if (cursor_.accept("else")) access.padding = cursor_.expect_number("a padding value");
  types.push_back(list_.tensors[access.tensor].type);
  stage.reads.push_back(std::move(access));
}

}  // namespace stowage
