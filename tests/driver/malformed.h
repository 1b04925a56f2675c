// SPDX-License-Identifier: Apache-2.0
// A checker of well-formed XML for what is written here.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace stowage::test {

/// The first thing that is not well-formed XML, or "". Knows what a page can hold: elements, quoted attributes, named
/// and numeric entities, a document type; no comments, no CDATA.
inline std::string malformed(std::string_view text) {
  const auto around = [&](std::size_t at) { return std::string(text.substr(at, 80)); };
  const auto entities_hold = [&](std::string_view part) {
    for (std::size_t at = 0; (at = part.find('&', at)) != std::string_view::npos; ++at) {
      const std::string_view name = part.substr(at + 1, part.find(';', at) - at - 1);
      const bool known = name == "amp" || name == "lt" || name == "gt" || name == "quot" || name.starts_with("#");
      if (!known || part.find(';', at) == std::string_view::npos) return false;
    }
    return part.find('<') == std::string_view::npos;
  };
  std::vector<std::string> open;
  std::size_t at = 0;
  if (text.starts_with("<!DOCTYPE html>\n")) at = text.find('\n') + 1;
  while (at < text.size()) {
    const std::size_t tag = text.find('<', at);
    if (!entities_hold(text.substr(at, tag == std::string_view::npos ? tag : tag - at))) return "text: " + around(at);
    if (tag == std::string_view::npos) break;
    std::size_t end = tag + 1;
    bool quoted = false;
    while (end < text.size() && (quoted || text[end] != '>')) {
      if (text[end] == '"') quoted = !quoted;
      ++end;
    }
    if (end == text.size()) return "no end: " + around(tag);
    std::string_view inside = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return "closes something else: " + around(tag);
      open.pop_back();
      continue;
    }
    const bool empty = inside.ends_with('/');
    if (empty) inside.remove_suffix(1);
    std::size_t i = 0;
    while (i < inside.size() && std::isspace(static_cast<unsigned char>(inside[i])) == 0) ++i;
    if (i == 0) return "no name: " + around(tag);
    if (!empty) open.emplace_back(inside.substr(0, i));
    while (i < inside.size()) {  // attributes
      while (i < inside.size() && std::isspace(static_cast<unsigned char>(inside[i])) != 0) ++i;
      if (i == inside.size()) break;
      const std::size_t equals = inside.find("=\"", i);
      const std::size_t close = equals == std::string_view::npos ? equals : inside.find('"', equals + 2);
      if (close == std::string_view::npos) return "attribute: " + around(tag);
      if (!entities_hold(inside.substr(equals + 2, close - equals - 2))) return "attribute's value: " + around(tag);
      i = close + 1;
    }
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

}  // namespace stowage::test
