// SPDX-License-Identifier: Apache-2.0
// JSON files that would be many times their size as one value: their long arrays are read an element at a time.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "driver/json/json.h"

namespace stowage {

/// Takes an element of an array, and what of the file was read before it, without rows. What it makes of it is kept
/// elsewhere, in a form of its own.
using RowReader = std::function<void(const Json& row, const Json& file)>;

/// Out of parse_rows when it was stopped.
class ReadingStopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "reading was stopped"; }
};

/// Parses a text. The elements of the arrays in `rows`, by their keys from the root ("fusion/candidates"),
/// go to their readers in order and are dropped, so that these arrays stay empty in the result. Throws what Json::parse
/// does, std::invalid_argument where brackets are nested deeper than 64 levels, and what a reader throws; when stopped,
/// at the next row, ReadingStopped.
Json parse_rows(std::string_view text, const std::map<std::string, RowReader>& rows, const std::stop_token& stop = {});

}  // namespace stowage
