// SPDX-License-Identifier: Apache-2.0
// The part of a loop nest's text that says what is computed: tensors, tables and stages.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/stage.h"
#include "core/text_cursor.h"
#include "lowering/ir/expression_parser.h"

namespace stowage {

/// Reads names and numbers with their checks. `what` names the kind of thing with its article: "a buffer".
class NameReader {
 public:
  explicit NameReader(TextCursor& cursor) : cursor_(cursor) {}

  std::int64_t number(std::string_view what, std::int64_t least, std::int64_t maximum);
  std::vector<std::int64_t> number_list();
  std::vector<IndexExpr> index_list(std::string_view open, std::string_view close, const ExpressionNames& names);

  /// A name that must be new among its kind.
  template <class Map>
  std::string new_name(std::string_view what, const Map& known) {
    const Token where = cursor_.peek();
    std::string name = cursor_.expect_name(what);
    if (known.contains(name)) {
      cursor_.fail(where, "duplicate-name", fmt::format("there is a {} '{}' already", bare(what), name));
    }
    return name;
  }

  /// What a name stands for.
  template <class Map>
  auto known_name(std::string_view what, const Map& known) {
    const Token where = cursor_.peek();
    const std::string name = cursor_.expect_name(what);
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    if (missing_.contains(name)) cursor_.abandon(where);
    std::vector<std::string> names;
    for (const auto& [other, unused] : known) names.push_back(other);
    cursor_.fail(where, "unknown-name", fmt::format("there is no {} '{}'", bare(what), name),
                 suggest_name(name, names));
  }

  /// What lines with mistakes would have defined is not missed again.
  void add_missing(std::set<std::string> names) { missing_.merge(names); }

 private:
  static std::string_view bare(std::string_view what) { return what.substr(what.find(' ') + 1); }

  TextCursor& cursor_;
  std::set<std::string> missing_;
};

class StageListParser {
 public:
  StageListParser(TextCursor& cursor, NameReader& reader, const std::map<std::string, Tensor>& constants,
                  std::int64_t max_zero_bytes)
      : cursor_(cursor), reader_(reader), constants_(constants), max_zero_bytes_(max_zero_bytes) {}

  /// Reads a line, or a stage with all its lines, if it is one of this part.
  bool read_line();
  /// Leaves a stage that a mistake interrupted.
  void recover();

  [[nodiscard]] StageList take() { return std::move(list_); }
  /// Hashes of the constants that zeros stand for, by tensor.
  [[nodiscard]] const std::map<StageTensorId, std::string>& unknown() const { return unknown_; }
  [[nodiscard]] const std::map<std::string, StageTensorId>& tensors() const { return tensors_; }
  [[nodiscard]] const std::map<std::string, StageId>& stages() const { return stages_; }
  [[nodiscard]] const std::map<std::string, std::shared_ptr<const IndexTable>>& tables() const { return tables_; }
  [[nodiscard]] const std::map<std::string, VarId>& axes_of(StageId stage) const { return axes_[stage]; }

 private:
  void tensor(TensorRole role);
  Packing packing(const Token& where, const StageTensor& tensor);
  Tensor constant(const Token& where, const StageTensor& tensor);
  void table();
  void stage();
  void axis(Stage& stage, ExpressionNames& names);
  void reduction(Stage& stage, ExpressionNames& names);
  void read(Stage& stage, const ExpressionNames& names, IdVector<ReadId, ElementType>& types);
  void check_read_number(const Token& where, ReadId read, const Stage& stage);
  void line_must_end();

  TextCursor& cursor_;
  NameReader& reader_;
  const std::map<std::string, Tensor>& constants_;
  StageList list_;
  std::map<std::string, StageTensorId> tensors_;
  std::map<std::string, StageId> stages_;
  std::map<std::string, std::shared_ptr<const IndexTable>> tables_;
  IdVector<StageId, std::map<std::string, VarId>> axes_;
  std::map<StageTensorId, std::string> unknown_;
  std::int64_t max_zero_bytes_;
  std::int64_t zero_bytes_ = 0;
  bool in_stage_ = false;
};

}  // namespace stowage
