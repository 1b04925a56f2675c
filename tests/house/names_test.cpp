// SPDX-License-Identifier: Apache-2.0
// Several files are compiled as one (CMAKE_UNITY_BUILD in CMakePresets.json), so that a file sees the unnamed
// namespaces of those before it. Two definitions of one function are an error there. But where a file's helper could
// take what another function is called with, the other one is silently no longer called: pages had file names that were
// escaped for a shell. So no such pair of names may exist.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/house/source_tree.h"

namespace stowage::test {
namespace {

/// A function of a namespace, as far as overload resolution looks at it.
struct Function {
  std::string name;
  std::string file;
  std::vector<std::string> parameters;  ///< what can be passed there: see family_of
  std::size_t needed = 0;               ///< parameters without a default
};

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \n") - begin + 1);
}

/// Types that arguments of one kind convert to have one name: "text", "number", "any", "vector<any>", or the type's
/// own. `of_template` are names of types that stand for any.
std::string family_of(const std::string& parameter, const std::set<std::string>& of_template) {
  static const std::regex not_the_type(R"(=.*|\bconst\b|[&*]|\b(std|fs|filesystem|stowage|inspector|drawing)::)");
  static const std::set<std::string> texts = {"string", "string_view", "char", "path", "QString", "QByteArray"};
  static const std::set<std::string> numbers = {"int",     "long",    "bool",     "float",    "double", "int32_t",
                                                "int64_t", "uint8_t", "uint32_t", "uint64_t", "size_t"};
  std::string type = trimmed(std::regex_replace(parameter, not_the_type, ""));
  // What is left is "type name" or "type".
  const auto space = type.find_last_of(" >");
  if (space != std::string::npos && type[space] == ' ') type.resize(space);
  if (type.find('>') == std::string::npos) type = trimmed(type);
  if (texts.contains(type)) return "text";
  if (numbers.contains(type)) return "number";
  if (type == "auto" || of_template.contains(type)) return "any";
  static const std::regex word(R"(\w+)");
  const auto has_any = [&](const std::string& inside) {
    return std::any_of(std::sregex_iterator(inside.begin(), inside.end(), word), std::sregex_iterator(),
                       [&](const std::smatch& match) { return of_template.contains(match.str()); });
  };
  const auto bracket = type.find('<');
  return bracket != std::string::npos && has_any(type.substr(bracket)) ? type.substr(0, bracket) + "<any>" : type;
}

/// What stands between the bracket at `at` and its partner, cut at commas.
std::vector<std::string> arguments_at(const std::string& text, std::size_t at) {
  std::vector<std::string> parts(1);
  int round = 0;
  int angle = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' && round++ == 0) continue;
    if (c == ')' && --round == 0) break;
    if (c == '<') ++angle;
    if (c == '>') --angle;
    if (c == ',' && round == 1 && angle == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (trimmed(parts.back()).empty()) parts.pop_back();
  return parts;
}

/// The names of types in "template <class T, typename... Rest>"; nothing of what is no template.
std::set<std::string> template_types(const std::string& text) {
  std::set<std::string> names;
  static const std::string begin = "template <";
  if (!text.starts_with(begin)) return names;
  std::string parts = "(";
  int angle = 1;
  for (std::size_t at = begin.size(); at < text.size() && angle > 0; ++at) {
    angle += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
    if (angle > 0) parts += text[at];
  }
  static const std::regex name(R"((\w+)\s*(?:=[\s\S]*)?$)");
  for (const std::string& part : arguments_at(parts + ")", 0)) {
    std::smatch match;
    if (std::regex_search(part, match, name)) names.insert(match[1]);
  }
  return names;
}

/// Of a function that begins in that line, the lines "template <…>" right before it, as one.
std::string heading_before(const std::vector<std::string>& lines, std::size_t function) {
  constexpr std::size_t most_lines = 4;
  for (std::size_t back = 1; back <= std::min(most_lines, function); ++back) {
    const std::string& line = lines[function - back];
    if (line.empty() || line.ends_with(";") || line.ends_with("}")) break;
    if (!line.starts_with("template <")) continue;
    std::string heading;
    for (std::size_t l = function - back; l < function; ++l) heading += lines[l] + " ";
    return heading;
  }
  return "";
}

/// Functions that begin at the left margin: of unnamed namespaces in a source, of any namespace in a header.
std::vector<Function> functions_of(const SourceFile& file) {
  static const std::regex begins(
      R"(^(?:template <[^>]*> )?(?:inline |constexpr |static )*[A-Za-z_][\w:<>,&* ]*[ &*]([a-z_]\w*)\()");
  static const std::regex other(R"(^(?:return|else|using|namespace|struct|class|enum|TEST_CASE|static_assert)\b)");
  std::vector<Function> found;
  bool is_inside = file.is_header();
  for (std::size_t l = 0; l < file.lines.size(); ++l) {
    const std::string& line = file.lines[l];
    if (line == "namespace {") is_inside = true;
    if (line == "}  // namespace") is_inside = file.is_header();
    std::smatch match;
    if (!is_inside || std::regex_search(line, other) || !std::regex_search(line, match, begins)) continue;
    std::string text = line;
    const std::set<std::string> any =
        template_types(line.starts_with("template") || l == 0 ? line : heading_before(file.lines, l));
    for (std::size_t next = l + 1; next < std::min(l + 6, file.lines.size()); ++next) text += "\n" + file.lines[next];
    Function function{match[1], file.path, {}, 0};
    for (const std::string& parameter : arguments_at(text, static_cast<std::size_t>(match.length(0)) - 1)) {
      function.parameters.push_back(family_of(parameter, any));
      if (parameter.find('=') == std::string::npos) ++function.needed;
    }
    found.push_back(std::move(function));
  }
  return found;
}

bool take_the_same(const Function& a, const Function& b) {
  if (a.needed > b.parameters.size() || b.needed > a.parameters.size()) return false;
  for (std::size_t p = 0; p < std::min(a.parameters.size(), b.parameters.size()); ++p) {
    const std::string& x = a.parameters[p];
    const std::string& y = b.parameters[p];
    const auto is_some = [](const std::string& some, const std::string& of) {
      return some.ends_with("<any>") && of.starts_with(some.substr(0, some.size() - std::string("any>").size()));
    };
    if (x != y && x != "any" && y != "any" && !is_some(x, y) && !is_some(y, x)) return false;
  }
  return true;
}

std::string without_ending(const std::string& path) { return path.substr(0, path.rfind('.')); }

/// What is compiled into one library.
std::string library_of(const std::string& path) {
  for (const char* library : {"core/onnx/", "core/reference/", "driver/networks/", "driver/tool/"}) {
    if (path.starts_with(library)) return library;
  }
  return path.substr(0, path.find('/'));
}

/// "a.cpp and b.h: name", of functions that could be called for each other.
std::vector<std::string> confusable(const std::vector<SourceFile>& tree) {
  std::map<std::string, std::vector<Function>> own;       // of sources, by name
  std::map<std::string, std::vector<Function>> declared;  // in headers
  for (const SourceFile& file : tree) {
    if (!file.is_cpp() || file.folder() == "tests") continue;
    for (Function& function : functions_of(file)) {
      auto& place = file.is_header() ? declared[function.name] : own[function.name];
      place.push_back(std::move(function));
    }
  }
  std::vector<std::string> pairs;
  for (const auto& [name, functions] : own) {
    for (std::size_t f = 0; f < functions.size(); ++f) {
      const auto compare = [&](const Function& other) {
        if (without_ending(other.file) == without_ending(functions[f].file)) return;
        if (take_the_same(functions[f], other)) pairs.push_back(functions[f].file + " and " + other.file + ": " + name);
      };
      for (const Function& other : declared[name]) {
        const bool is_seen = other.file.starts_with("inspector/") <= functions[f].file.starts_with("inspector/");
        if (is_seen) compare(other);
      }
      for (std::size_t g = 0; g < f; ++g) {
        if (library_of(functions[g].file) == library_of(functions[f].file)) compare(functions[g]);
      }
    }
  }
  return pairs;
}

SourceFile made(const std::string& path, std::vector<std::string> lines) { return {path, std::move(lines)}; }

}  // namespace

TEST_CASE("no function of a source can be called in place of another one where files are compiled together",
          "[house]") {
  for (const std::string& pair : confusable(source_tree())) {
    INFO("give one of them another name, or both one place: " << pair);
    CHECK(false);
  }
}

TEST_CASE("functions that could be called for each other are found", "[house]") {
  const SourceFile header = made("core/quoting.h", {"std::string escaped(std::string_view text);"});
  const auto source = [](const std::string& path, const std::string& function) {
    return made(path, {"namespace {", "", function, "", "}  // namespace"});
  };
  const auto found = [&](const std::string& function) {
    return !confusable({header, source("driver/manual/zsh.cpp", function)}).empty();
  };
  CHECK(found("std::string escaped(const std::string& text) {"));
  CHECK(found("std::string escaped(const char* text, bool quoted = false) {"));
  CHECK(found("template <class T> std::string escaped(const T& value) {"));
  // Whatever a template's parameters are called, and wherever its heading stands.
  CHECK(found("template <class Text> std::string escaped(const Text& value) {"));
  CHECK(found("template <std::size_t Size, typename Value = int> std::string escaped(Value&& value) {"));
  CHECK_FALSE(found("template <class Text> std::string escaped(const Other& value) {"));
  const auto below = [&](const std::vector<std::string>& heading, const std::string& function) {
    std::vector<std::string> lines = {"namespace {", ""};
    lines.insert(lines.end(), heading.begin(), heading.end());
    lines.insert(lines.end(), {function, "", "}  // namespace"});
    return !confusable({header, made("driver/manual/zsh.cpp", lines)}).empty();
  };
  CHECK(below({"template <class Text>"}, "std::string escaped(const Text& value) {"));
  CHECK(below({"template <class First,", "          class Second>"}, "std::string escaped(const Second& value) {"));
  CHECK_FALSE(below({"template <class Text>", "Text copied(Text text);"}, "std::string escaped(const Text& value) {"));
  // Of vectors some, of each vector's elements any.
  const SourceFile vectors = made("core/quoting.h", {"std::string joined(const std::vector<std::string>& texts);"});
  const auto joins = [&](const std::string& function) {
    return !confusable({vectors, source("driver/manual/zsh.cpp", function)}).empty();
  };
  CHECK(joins("template <class Part> std::string joined(const std::vector<Part>& parts) {"));
  CHECK_FALSE(joins("template <class Part> std::string joined(const std::set<Part>& parts) {"));
  CHECK_FALSE(found("std::string escaped(const std::string& text, bool quoted) {"));
  CHECK_FALSE(found("std::string escaped(const std::vector<std::string>& texts) {"));
  CHECK_FALSE(found("std::string zsh_escaped(const std::string& text) {"));
  // Its own header, and two sources of one library or of two.
  CHECK(confusable({header, source("core/quoting.cpp", "std::string escaped(std::string_view text) {")}).empty());
  const SourceFile size = source("core/a.cpp", "int size_of(const Graph& graph) {");
  CHECK_FALSE(confusable({size, source("core/b.cpp", "std::size_t size_of(Graph graph) {")}).empty());
  CHECK(confusable({size, source("fusion/b.cpp", "std::size_t size_of(Graph graph) {")}).empty());
}

}  // namespace stowage::test
