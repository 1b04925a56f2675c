// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/c_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include <fmt/format.h>

#include "core/check.h"
#include "core/quoting.h"

namespace stowage {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

/// Calls `visit` for every word of a line that could be an identifier; comments do not count.
template <class Visit>
void for_each_word(std::string_view line, const Visit& visit) {
  for (std::size_t i = 0; i < line.size();) {
    if (line.substr(i, 2) == "/*") {
      const std::size_t end = line.find("*/", i + 2);
      i = end == std::string_view::npos ? line.size() : end + 2;
    } else if (is_identifier_char(line[i])) {
      std::size_t end = i;
      while (end < line.size() && is_identifier_char(line[end])) ++end;
      visit(line.substr(i, end - i));
      i = end;
    } else {
      ++i;
    }
  }
}

/// What a name of two or three letters and a suffix could be by chance, and what every kernel declares. A name that
/// comes with a model needs no list: its prefix keeps it apart from every name of C, of a library or of a compiler.
bool is_reserved(std::string_view name) {
  static constexpr auto words = [] {
    auto sorted = std::to_array<std::string_view>(
        {"auto",        "break",      "case",    "char",        "const",       "continue",   "default",   "do",
         "double",      "else",       "enum",    "extern",      "float",       "for",        "goto",      "if",
         "inline",      "int",        "long",    "register",    "restrict",    "return",     "short",     "signed",
         "sizeof",      "static",     "struct",  "switch",      "typedef",     "union",      "unsigned",  "void",
         "volatile",    "while",      "asm",     "typeof",      "linux",       "unix",       "NULL",      "INFINITY",
         "NAN",         "main",       "floatv4", "doublev4",    "arg",         "core",       "ldm",       "para",
         "PE_MODE",     "dma_wait",   "h2ldm",   "athread_get", "athread_put", "bool",       "true",      "false",
         "stdin",       "stdout",     "stderr",  "errno",       "y0",          "y1",         "yn",        "j0",
         "j1",          "jn",         "gamma",   "signgam",     "index",       "BCAST_MODE", "ROW_SCOPE", "COL_SCOPE",
         "ARRAY_SCOPE", "athread_syn"});
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }();
  return std::binary_search(words.begin(), words.end(), name);
}

}  // namespace

std::string c_name(std::string_view text, std::size_t maximum) {
  constexpr std::string_view between = "__";
  std::string name = identifier_of(text);
  if (name.size() > maximum) {
    const std::size_t kept = maximum - between.size();
    name = name.substr(0, kept - kept / 2) + std::string(between) + name.substr(name.size() - kept / 2);
  }
  return name;
}

std::string IdentifierPool::take(const std::string& wanted) {
  std::string name = names_.take(wanted);
  while (is_reserved(name)) name = names_.take(wanted);
  return name;
}

std::string IdentifierPool::take_of_model(std::string_view wanted) {
  return take(std::string(model_prefix) + c_name(wanted));
}

void CWriter::line(std::string text, std::optional<StatementId> statement) {
  lines_.push_back({std::move(text), depth_, statement, written_for_, {}});
}

void CWriter::define(std::string name, std::string text) {
  lines_.push_back({std::move(text), depth_, std::nullopt, written_for_, std::move(name)});
}

void CWriter::comment(std::string_view text) { line(fmt::format("/* {} */", c_comment_text(text))); }

void CWriter::open(std::string text, std::optional<StatementId> statement) {
  line(std::move(text), statement);
  ++depth_;
}

void CWriter::else_branch(std::string text) {
  --depth_;
  line(std::move(text));
  ++depth_;
}

void CWriter::close(std::string text) {
  check(depth_ > 0, "emitted text closes more than it opened");
  --depth_;
  line(std::move(text));
}

void CWriter::append(const CWriter& other) {
  for (CLine added : other.lines_) {
    added.depth += depth_;
    lines_.push_back(std::move(added));
  }
}

std::vector<CLine> CWriter::lines() const {
  // Backwards, so that a definition which only an unused one needs goes too.
  std::vector<CLine> kept;
  std::unordered_map<std::string_view, bool> used;  // of the names that may go
  for (const CLine& line : lines_) {
    if (!line.defines.empty()) used.emplace(line.defines, false);
  }
  for (auto at = lines_.rbegin(); at != lines_.rend(); ++at) {
    if (!at->defines.empty() && !used.at(at->defines)) continue;
    if (!used.empty()) {
      for_each_word(at->text, [&](std::string_view word) {
        if (const auto name = used.find(word); name != used.end()) name->second = true;
      });
    }
    kept.push_back(*at);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::string to_text(const std::vector<CLine>& lines) {
  std::string text;
  for (const CLine& line : lines) {
    if (!line.text.empty()) text.append(static_cast<std::size_t>(line.depth) * 2, ' ');
    text += line.text;
    text += '\n';
  }
  return text;
}

}  // namespace stowage
