// SPDX-License-Identifier: Apache-2.0
// The rules of the house that a compiler does not keep: which folder may use which, which library may be seen where,
// licence lines, names of tests.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/house/source_tree.h"

namespace stowage::test {
namespace {

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) { return text.starts_with(prefix); });
}

/// "core/onnx" and "core/reference" are layers of their own; otherwise a layer is a folder.
std::string layer_of(const std::string& path) {
  for (const char* layer : {"core/onnx", "core/reference"}) {
    if (path.starts_with(std::string(layer) + "/")) return layer;
  }
  return path.substr(0, path.find('/'));
}

const std::map<std::string, std::set<std::string>> may_use = {
    {"core", {"core"}},
    {"core/onnx", {"core", "core/onnx"}},
    {"core/reference", {"core", "core/reference"}},
    {"fusion", {"core", "fusion"}},
    {"lowering", {"core", "fusion", "lowering"}},
    {"emitter", {"core", "fusion", "lowering", "emitter"}},
    {"driver", {"core", "core/onnx", "core/reference", "fusion", "lowering", "emitter", "driver"}},
    {"inspector", {"core", "core/onnx", "core/reference", "fusion", "lowering", "emitter", "driver", "inspector"}},
};

TEST_CASE("folders depend on each other in one direction only", "[house]") {
  int checked = 0;
  for (const SourceFile& file : source_tree()) {
    const auto allowed = may_use.find(layer_of(file.path));
    if (!file.is_cpp() || allowed == may_use.end()) continue;
    for (const std::string& included : file.includes()) {
      const std::string layer = layer_of(included);
      if (!may_use.contains(layer)) continue;
      INFO(file.path << " includes " << included);
      CHECK(allowed->second.contains(layer));
      ++checked;
    }
  }
  CHECK(checked > 50);
}

/// What a folder inside of a component may use of the folders beside it, each behind all that it may use.
struct Inside {
  std::string folder;
  std::set<std::string> may_use;
};

const std::map<std::string, std::vector<Inside>> insides = {
    {"fusion",
     {{"facts", {}},
      {"fold", {"facts"}},
      {"templates", {"facts"}},
      {"match", {"facts", "templates"}},
      {"groups", {"facts", "templates"}},
      {"rules", {"facts", "groups"}},
      {"strategies", {"facts", "groups", "match", "rules", "templates"}},
      {"explain", {"facts", "groups", "rules", "strategies", "templates"}}}},
    {"lowering",
     {{"ir", {}},
      {"time", {"ir"}},
      {"simulate", {"ir", "time"}},
      {"model", {"ir"}},
      {"verify", {"ir", "model", "time"}},
      {"interpret", {"ir"}},
      {"check", {"ir"}},
      {"swtvm", {"model"}},
      {"nest", {"ir", "model", "swtvm", "time"}},
      {"search", {"ir", "model", "nest", "swtvm", "time"}},
      {"evaluate", {"nest", "simulate", "time"}},
      {"program", {"evaluate", "ir", "model", "nest", "search", "simulate", "swtvm", "time", "verify"}}}},
    {"emitter",
     {{"process", {}},
      {"sources", {}},
      {"athread", {"sources"}},
      {"emulation", {"athread", "process", "sources"}},
      {"pictures", {"process"}}}},
    {"driver",
     {{"files", {}},
      {"networks", {}},
      {"exercises", {}},
      {"text", {}},
      {"manual", {"text"}},
      {"json", {}},
      {"backend", {"json"}},
      {"timeline", {"backend", "json"}},
      {"athread", {"backend", "json"}},
      {"families", {"athread", "backend"}},
      {"predictor", {"json"}},
      {"session", {"backend", "files", "predictor"}},
      {"checking", {"backend", "files", "json", "session"}},
      {"training", {"networks"}},
      {"run", {"session"}},
      {"report", {"backend", "session", "text"}},
      {"diff", {"report", "session", "text"}},
      {"drawing", {"backend", "report", "session", "text"}},
      {"page", {"drawing", "report", "session"}},
      {"store", {"files", "json", "report", "session"}},
      {"batch", {"diff", "drawing", "files", "json", "networks", "page", "report", "run", "session", "store", "text"}},
      {"sensitivity", {"batch", "diff", "drawing", "json", "page", "report", "session", "text"}},
      {"tool",
       {"backend", "batch", "checking", "diff", "exercises", "files", "json", "manual", "networks", "page", "report",
        "run", "predictor", "sensitivity", "session", "store", "text", "timeline", "training"}}}},
    {"inspector",
     {{"desktop", {}},
      {"look", {}},
      {"state", {}},
      {"code", {"look", "state"}},
      {"check", {"code"}},
      {"draw", {"look", "state"}},
      {"tables", {"draw", "look", "state"}},
      {"compare", {"code", "state", "tables"}},
      {"cost", {"draw", "look", "state"}},
      {"fusion", {"draw", "look", "state", "tables"}},
      {"graph", {"draw", "look", "state"}},
      {"ldm", {"draw", "look", "state"}},
      {"replay", {"draw", "look", "state"}},
      {"timeline", {"draw", "look", "state"}},
      {"whatif", {"draw", "look", "state"}},
      {"sensitivity", {"state", "tables", "whatif"}},
      {"panes",
       {"check", "code", "compare", "cost", "draw", "fusion", "graph", "ldm", "look", "replay", "sensitivity", "state",
        "tables", "timeline", "whatif"}},
      {"window", {"look", "panes", "state"}},
      {"", {"panes", "window"}}}},  // the program itself
};

TEST_CASE("folders inside of a component depend on each other in one direction only", "[house]") {
  for (const auto& [component, folders] : insides) {
    std::set<std::string> before;
    for (const Inside& inside : folders) {
      INFO(component << "/" << inside.folder);
      CHECK(std::includes(before.begin(), before.end(), inside.may_use.begin(), inside.may_use.end()));
      before.insert(inside.folder);
    }
  }
  /// "ir" of "lowering/ir/loop_nest.h"; empty for a file that lies in the component itself.
  const auto folder_inside = [](const std::string& path) {
    const auto start = path.find('/') + 1;
    const auto end = path.find('/', start);
    return end == std::string::npos ? std::string() : path.substr(start, end - start);
  };
  std::map<std::string, std::set<std::string>> used;  ///< by component and folder
  std::set<std::string> filled;
  for (const SourceFile& file : source_tree()) {
    filled.insert(file.path.substr(0, file.path.rfind('/')));
    const std::string component = file.path.substr(0, file.path.find('/'));
    const auto found = insides.find(component);
    if (!file.is_cpp() || found == insides.end()) continue;
    INFO(file.path);
    const std::string own = folder_inside(file.path);
    const auto inside = std::find_if(found->second.begin(), found->second.end(),
                                     [&](const Inside& candidate) { return candidate.folder == own; });
    CHECK((inside != found->second.end()));
    if (inside == found->second.end()) continue;
    for (const std::string& included : file.includes()) {
      if (!included.starts_with(component + "/") || folder_inside(included) == own) continue;
      INFO("includes " << included);
      CHECK(inside->may_use.contains(folder_inside(included)));
      used[component + "/" + own].insert(folder_inside(included));
    }
  }
  for (const auto& [component, folders] : insides) {
    for (const Inside& inside : folders) {
      const std::string folder = inside.folder.empty() ? component : component + "/" + inside.folder;
      INFO(folder << " holds no file");
      CHECK(filled.contains(folder));
      for (const std::string& other : inside.may_use) {
        INFO(folder << " may use " << other << ", and does not: that goes");
        CHECK(used[component + "/" + inside.folder].contains(other));
      }
    }
  }
}

TEST_CASE("lowering needs fusion for whole programs only", "[house]") {
  for (const SourceFile& file : source_tree()) {
    if (!file.path.starts_with("lowering/") || file.path.starts_with("lowering/program/")) continue;
    for (const std::string& included : file.includes()) {
      INFO(file.path << " includes " << included);
      CHECK_FALSE(included.starts_with("fusion/"));
    }
  }
}

TEST_CASE("sources of the project include no test", "[house]") {
  for (const SourceFile& file : source_tree()) {
    if (file.folder() == "tests") continue;
    for (const std::string& included : file.includes()) {
      INFO(file.path << " includes " << included);
      CHECK_FALSE(included.starts_with("tests/"));
    }
  }
}

/// Where a third-party library may be seen. `headers` names the only headers that may include it; no other folder may
/// include those.
struct Fence {
  std::vector<std::string> include_prefixes;
  std::vector<std::string> folders;
  std::vector<std::string> headers;
};

const std::vector<Fence> fences = {
    {{"onnx/", "google/protobuf/"},
     {"core/onnx/"},
     {"core/onnx/model_file.h", "core/onnx/node_import.h", "core/onnx/tensor_proto.h"}},
    {{"oneapi/", "dnnl"}, {"core/reference/"}, {"core/reference/onednn_session.h"}},
    {{"toml++/"}, {"core/", "fusion/", "lowering/", "driver/"}, {}},
    {{"boost/"}, {"core/", "fusion/"}, {"core/graph_boost.h"}},
    {{"CLI/"}, {"driver/"}, {}},
    {{"nlohmann/"},
     {"core/", "fusion/", "lowering/", "emitter/", "driver/", "inspector/"},
     {"driver/json/json.h", "driver/json/json_forward.h"}},
    {{"xxhash"}, {"core/", "fusion/", "lowering/", "emitter/", "driver/", "inspector/"}, {}},
    {{"zlib"}, {"driver/files/"}, {}},
    {{"Q"}, {"inspector/"}, {"inspector/"}},
};

TEST_CASE("third-party libraries stay behind their fences", "[house]") {
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.is_product()) continue;
    for (const std::string& included : file.includes()) {
      for (const Fence& fence : fences) {
        // Our own "onnx/…" does not exist: project files are included from the root, as "core/onnx/…".
        if (!starts_with_any(included, fence.include_prefixes)) continue;
        INFO(file.path << " includes " << included);
        CHECK(starts_with_any(file.path, fence.folders));
        if (file.is_header()) CHECK(starts_with_any(file.path, fence.headers));
      }
    }
  }
}

TEST_CASE("headers that show a third-party library stay in their folder", "[house]") {
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp()) continue;
    for (const std::string& included : file.includes()) {
      for (const Fence& fence : fences) {
        for (const std::string& header : fence.headers) {
          if (included != header || layer_of(file.path) == layer_of(header)) continue;
          INFO(file.path << " includes " << included);
          // Boost.Graph is for fusion too, and what tests look at inside is theirs to know.
          CHECK((starts_with_any(file.path, fence.folders) || file.folder() == "tests"));
        }
      }
    }
  }
}

TEST_CASE("every source file names its licence", "[house]") {
  const std::vector<std::string> kinds = {".h", ".cpp", ".c", ".cmake", ".cmake.in", ".sh", ".toml", "CMakeLists.txt"};
  const auto has_licence = [](const SourceFile& file) {
    // A script's first line names its interpreter.
    for (std::size_t i = 0; i < std::min<std::size_t>(2, file.lines.size()); ++i) {
      if (file.lines[i].ends_with("SPDX-License-Identifier: Apache-2.0")) return true;
    }
    return false;
  };
  for (const SourceFile& file : source_tree()) {
    const bool is_source =
        std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return file.path.ends_with(kind); });
    // Goldens, and folders that an earlier version wrote, are exactly what was written.
    if (!is_source || file.path.starts_with("tests/driver/data/") || file.path.find("/golden/") != std::string::npos)
      continue;
    INFO(file.path);
    CHECK(has_licence(file));
  }
}

TEST_CASE("every test's name can be called by CTest", "[house]") {
  // A semicolon would split it and register tests that pass without having run; Catch takes a leading '-' for an option
  // and a leading '~' for an exclusion.
  for (const SourceFile& file : source_tree()) {
    if (file.folder() != "tests" || !file.is_cpp()) continue;
    for (const std::string& line : file.lines) {
      const auto start = line.find("TEST_CASE(\"");
      if (start == std::string::npos || line.find("TEST_CASE(\\\"") != std::string::npos) continue;
      constexpr std::size_t opening = std::string_view("TEST_CASE(\"").size();
      const std::string name = line.substr(start, line.find('"', start + opening) - start);
      INFO(file.path << ": " << line);
      CHECK(name.find(';') == std::string::npos);
      const char first = name.substr(std::string("TEST_CASE(\"").size())[0];
      CHECK((first != '-' && first != '~'));
    }
  }
}

TEST_CASE("no source ends the process or asserts", "[house]") {
  // A user's mistake is a Diagnostic, ours an InternalError; both must reach the driver.
  const std::vector<std::string> banned = {"exit(", "_exit(", "abort(", "assert(", "quick_exit("};
  const auto is_word_start = [](const std::string& line, std::size_t at) {
    return at == 0 || (std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0 && line[at - 1] != '_');
  };
  for (const SourceFile& file : source_tree()) {
    // The emulation runtime is C in a process of its own.
    if (!file.is_cpp() || !file.is_product()) continue;
    if (file.path.starts_with("emitter/athread/templates/")) continue;  // so are emitted programs
    for (const std::string& line : file.lines) {
      const std::string code = line.substr(0, line.find("//"));
      for (const std::string& word : banned) {
        const auto at = code.find(word);
        if (at == std::string::npos || !is_word_start(code, at)) continue;
        // Text of emitted programs and of messages stands in quotes.
        if (std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '"') % 2 == 1) continue;
        INFO(file.path << ": " << line);
        CHECK(false);
      }
    }
  }
}

}  // namespace
}  // namespace stowage::test
