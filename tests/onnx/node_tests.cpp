// SPDX-License-Identifier: Apache-2.0
#include "tests/onnx/node_tests.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "core/onnx/import.h"
#include "tests/places.h"
#include "tests/shared_files.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

const fs::path debian_folder = "/usr/share/libonnx-testdata/data";

/// Unpacks the archive, where there is one, into the build folder once. Several test programs may do so at a time: the
/// last rename wins.
std::optional<fs::path> unpacked_archive() {
  const auto archive = shared_file("models/node-tests.tar.xz");
  if (!archive) return std::nullopt;
  const fs::path target = test::build_folder() / "node-tests";
  if (fs::exists(target)) return target;
  const fs::path partial = test::build_folder() / fmt::format("node-tests.{}", ::getpid());
  fs::create_directories(partial);
  const std::string command = fmt::format("tar -xJf '{}' -C '{}'", archive->string(), partial.string());
  std::error_code error;
  if (std::system(command.c_str()) == 0) fs::rename(partial, target, error);
  if (error) fs::remove_all(partial);
  if (!fs::exists(target)) throw std::runtime_error(archive->string() + " cannot be unpacked");
  return target;
}

bool all_supported(const std::vector<CoverageRow>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const CoverageRow& row) { return row.supported; });
}

/// The operator that a test is about: the first whose name its own name contains, else the first one.
std::string subject_of(const std::string& name, const std::vector<CoverageRow>& rows) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const CoverageRow& row : rows) {
    std::string kind = row.operator_name;
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (plain.find(kind) != std::string::npos) return row.operator_name;
  }
  return rows.empty() ? "none" : rows[0].operator_name;
}

void collect(const fs::path& root, const std::string& prefix, const std::vector<std::string>& suites,
             NodeTestList& list) {
  for (const std::string& suite : suites) {
    if (!fs::is_directory(root / suite)) continue;
    for (const auto& entry : fs::directory_iterator(root / suite)) {
      const fs::path model = entry.path() / "model.onnx";
      if (!fs::exists(model)) continue;
      Diagnostics diagnostics;
      const auto coverage = onnx_coverage(model.string(), diagnostics);
      if (!coverage) {
        ++list.passed_over[diagnostics.entries()[0].code];
        continue;
      }
      if (!all_supported(*coverage)) {
        ++list.passed_over["unsupported-operator"];
        continue;
      }
      NodeTest test;
      test.name = entry.path().filename().string();
      test.id = fmt::format("{}/{}/{}", prefix, suite, test.name);
      test.subject = subject_of(test.name, *coverage);
      test.folder = entry.path().string();
      list.tests.push_back(std::move(test));
    }
  }
}

bool is_wanted(ElementType type) {
  return type != ElementType::f64 && type != ElementType::f16 && type != ElementType::bf16;
}

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.entries()) {
    if (d.severity != Severity::error) continue;
    text += fmt::format("{}{}: {} [{}]", text.empty() ? "" : ", ", d.location.object, d.message, d.code);
  }
  return text;
}

bool only_type_errors(const Diagnostics& diagnostics) {
  return std::all_of(diagnostics.entries().begin(), diagnostics.entries().end(), [](const Diagnostic& d) {
    return d.severity == Severity::warning || d.code == "unsupported-type";
  });
}

/// The tensors of a test in order, for instance output_0.pb, output_1.pb …
std::optional<std::vector<Tensor>> read_tensors(const NodeTest& test, const std::string& kind,
                                                Diagnostics& diagnostics) {
  std::vector<Tensor> tensors;
  for (int n = 0;; ++n) {
    const fs::path file = fs::path(test.folder) / "test_data_set_0" / fmt::format("{}_{}.pb", kind, n);
    if (!fs::exists(file)) return tensors;
    auto tensor = read_tensor_proto(file.string(), diagnostics);
    if (!tensor) return std::nullopt;
    tensors.push_back(*std::move(tensor));
  }
}

}  // namespace

NodeTestList find_node_tests(NodeTestSource source) {
  NodeTestList list;
  const std::vector<std::string> suites = {"node", "pytorch-converted", "pytorch-operator", "simple"};
  if (source == NodeTestSource::onnx_1_23) {
    list.at_least = 524;
    if (const auto archive = unpacked_archive()) {
      collect(*archive / "onnx-1.23", "onnx-1.23", suites, list);
    } else {
      list.skipped = fmt::format("skipped, {} cases: no node-tests.tar.xz in the shared folder", list.at_least);
    }
  } else {
    list.at_least = 430;
    if (fs::is_directory(debian_folder)) {
      collect(debian_folder, "debian", suites, list);
    } else {
      list.skipped = fmt::format("skipped, {} cases: no package libonnx-testdata", list.at_least);
    }
  }
  std::sort(list.tests.begin(), list.tests.end(), [](const NodeTest& a, const NodeTest& b) { return a.id < b.id; });
  return list;
}

std::optional<NodeTestCase> load_node_test(const NodeTest& test, std::string& failure) {
  const std::string model = test.folder + "/model.onnx";
  const auto failed = [&](const Diagnostics& diagnostics) -> std::optional<NodeTestCase> {
    if (!only_type_errors(diagnostics)) failure = text_of(diagnostics);
    return std::nullopt;
  };
  Diagnostics diagnostics;
  const auto declared = onnx_inputs(model, diagnostics);
  if (!declared) return failed(diagnostics);
  const auto given = read_tensors(test, "input", diagnostics);
  if (!given) return failed(diagnostics);
  const auto wanted = [](const Tensor& tensor) { return is_wanted(tensor.type()); };
  if (!std::all_of(given->begin(), given->end(), wanted)) return std::nullopt;
  if (given->size() != declared->size()) {
    failure = fmt::format("the network has {} inputs, the test {}", declared->size(), given->size());
    return std::nullopt;
  }

  ImportOptions options;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const auto& dimensions = (*declared)[i].dimensions;
    for (std::size_t d = 0; d < std::min(dimensions.size(), (*given)[i].shape().size()); ++d) {
      const bool number = dimensions[d].find_first_not_of("0123456789") == std::string::npos;
      if (!number) options.dimensions[dimensions[d]] = (*given)[i].shape()[d];
    }
  }
  for (bool more = true; more;) {
    const auto to_bind = onnx_inputs_to_bind(model, options, diagnostics);
    if (!to_bind) return failed(diagnostics);
    more = false;
    for (std::size_t i = 0; i < given->size(); ++i) {
      const std::string& name = (*declared)[i].name;
      if (std::find(to_bind->begin(), to_bind->end(), name) == to_bind->end()) continue;
      more = options.bindings.emplace(name, (*given)[i]).second || more;
    }
  }
  auto graph = import_onnx(model, options, diagnostics);
  if (!graph) return failed(diagnostics);
  for (const GraphTensor& tensor : graph->tensors()) {
    if (!is_wanted(tensor.type)) return std::nullopt;
  }
  auto expected = read_tensors(test, "output", diagnostics);
  if (!expected) return failed(diagnostics);
  NodeTestCase result{test.id, *std::move(graph), {}, *std::move(expected)};
  for (std::size_t i = 0; i < given->size(); ++i) {
    if (!options.bindings.contains((*declared)[i].name)) result.inputs.push_back((*given)[i]);
  }
  return result;
}

std::optional<std::string> node_test_exemption(const std::string& name) {
  static const std::map<std::string, std::string> exemptions = [] {
    std::map<std::string, std::string> read;
    std::ifstream file(test::source_folder() / "tests/onnx/node_test_exemptions.txt");
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      const auto space = line.find(' ');
      read[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(line.find_first_not_of(' ', space));
    }
    return read;
  }();
  const auto found = exemptions.find(name);
  if (found == exemptions.end()) return std::nullopt;
  return found->second;
}

std::string difference(const Tensor& expected, const Tensor& actual) {
  if (expected.type() != actual.type()) {
    return fmt::format("type {} instead of {}", name_of(actual.type()), name_of(expected.type()));
  }
  if (expected.shape() != actual.shape()) {
    return fmt::format("shape {} instead of {}", to_text(actual.shape()), to_text(expected.shape()));
  }
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    if (!is_float(expected.type())) {
      if (expected.as_int64(i) != actual.as_int64(i)) {
        return fmt::format("element {} is {} instead of {}", i, actual.as_int64(i), expected.as_int64(i));
      }
      continue;
    }
    const double e = expected.as_double(i);
    const double a = actual.as_double(i);
    const bool same = (std::isnan(e) && std::isnan(a)) || e == a || std::abs(a - e) <= 1e-5 + 1e-3 * std::abs(e);
    if (!same) return fmt::format("element {} is {} instead of {}", i, a, e);
  }
  return {};
}

void NodeTestTally::record(const NodeTest& test, const std::string& failure) {
  Row& row = rows_[test.subject];
  const auto exemption = node_test_exemption(test.name);
  if (exemption && !failure.empty()) {
    ++row.exempt;
  } else if (exemption) {
    failures_ += fmt::format("{} passes: take it off the list of exemptions\n", test.id);
    ++row.failed;
    ++failed_;
  } else if (!failure.empty()) {
    failures_ += fmt::format("{}: {}\n", test.id, failure);
    ++row.failed;
    ++failed_;
  } else {
    ++row.passed;
    ++passed_;
  }
}

void NodeTestTally::skip(const NodeTest& test) { ++rows_[test.subject].skipped; }

std::string NodeTestTally::summary() const {
  std::string text =
      fmt::format("{:<24} {:>7} {:>7} {:>7} {:>12}\n", "operator", "passed", "exempt", "failed", "other types");
  Row all;
  for (const auto& [subject, row] : rows_) {
    text += fmt::format("{:<24} {:>7} {:>7} {:>7} {:>12}\n", subject, row.passed, row.exempt, row.failed, row.skipped);
    all.passed += row.passed;
    all.exempt += row.exempt;
    all.failed += row.failed;
    all.skipped += row.skipped;
  }
  return text +
         fmt::format("{:<24} {:>7} {:>7} {:>7} {:>12}\n", "all", all.passed, all.exempt, all.failed, all.skipped);
}

std::string NodeTestTally::failures() const { return failures_; }

std::string run_node_tests(const NodeTestList& list,
                           const std::function<std::vector<Tensor>(const NodeTestCase&)>& run) {
  NodeTestTally tally;
  for (const NodeTest& test : list.tests) {
    std::string failure;
    const auto loaded = load_node_test(test, failure);
    if (!loaded && failure.empty()) {
      tally.skip(test);
      continue;
    }
    if (loaded) {
      try {
        const std::vector<Tensor> outputs = run(*loaded);
        if (outputs.size() != loaded->expected.size()) {
          failure = fmt::format("{} outputs instead of {}", outputs.size(), loaded->expected.size());
        }
        for (std::size_t o = 0; failure.empty() && o < outputs.size(); ++o)
          failure = difference(loaded->expected[o], outputs[o]);
      } catch (const std::exception& error) {
        failure = error.what();
      }
    }
    tally.record(test, failure);
  }
  std::cout << tally.summary();
  for (const auto& [reason, count] : list.passed_over)
    std::cout << fmt::format("not selected, {}: {}\n", reason, count);
  return tally.failures();
}

}  // namespace stowage::test
