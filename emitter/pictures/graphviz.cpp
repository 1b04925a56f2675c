// SPDX-License-Identifier: Apache-2.0
#include "emitter/pictures/graphviz.h"

#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "core/file_writer.h"
#include "core/quoting.h"
#include "core/temporary_folder.h"
#include "emitter/process/process.h"

namespace stowage {

namespace {

constexpr const char* graphviz_program = "dot";

Failed fail(Diagnostics& diagnostics, std::string message, std::string remedy = {}) {
  diagnostics.error("graphviz", {}, std::move(message), std::move(remedy));
  return Failed{};
}

}  // namespace

bool has_graphviz() { return !find_program(graphviz_program).empty(); }

std::string graphviz_remedy() {
  return "install Graphviz (Debian: apt-get install graphviz); a FILE.dot is written without it";
}

namespace {

/// `options` come before the file; the format is that of the answer.
Result<GraphvizAnswer> run_dot(std::vector<std::string> options, const std::string& dot_text, const std::string& format,
                               std::chrono::milliseconds time_limit, Diagnostics& diagnostics,
                               const std::stop_token& stop) {
  if (!has_graphviz()) return fail(diagnostics, "the program 'dot' is not installed", graphviz_remedy());
  try {
    const TemporaryFolder folder;
    const auto input = folder.path() / "graph.dot";
    const auto output = folder.path() / ("graph." + format);
    write_in_place(input, std::as_bytes(std::span(dot_text)));
    options.insert(options.begin(), graphviz_program);
    options.insert(options.end(), {"-T" + format, "-o", output.string(), input.string()});
    const ProcessResult result = run_process(options, folder.path(), {}, stop, time_limit);
    if (result.stopped || stop.stop_requested()) return Failed{};
    if (!result.started) return fail(diagnostics, "the program 'dot' cannot be started");
    if (result.out_of_time) return GraphvizAnswer{"", true};
    if (result.exit_code != 0) {
      const std::string said = result.output.substr(0, result.output.find('\n'));
      return fail(diagnostics, result.signal != 0 ? fmt::format("'dot' was ended by signal {}", result.signal)
                                                  : fmt::format("'dot' failed with exit code {}: {}",
                                                                result.exit_code.value_or(-1), said));
    }
    std::ifstream reader(output, std::ios::binary);
    std::string picture{std::istreambuf_iterator<char>(reader), std::istreambuf_iterator<char>()};
    if (!reader.good() || picture.empty()) {
      return fail(diagnostics, fmt::format("'dot' made no {} picture", format), "try FILE.svg");
    }
    return GraphvizAnswer{std::move(picture), false};
  } catch (const std::filesystem::filesystem_error& failure) {
    return fail(diagnostics, failure.what());
  }
}

}  // namespace

Result<GraphvizAnswer> ask_graphviz(const std::string& dot_text, const std::string& format,
                                    std::chrono::milliseconds time_limit, Diagnostics& diagnostics,
                                    const std::stop_token& stop) {
  return run_dot({}, dot_text, format, time_limit, diagnostics, stop);
}

Result<GraphvizAnswer> draw_placed(const std::string& dot_text, const std::string& format,
                                   std::chrono::milliseconds time_limit, Diagnostics& diagnostics,
                                   const std::stop_token& stop) {
  return run_dot({"-Kneato", "-n2"}, dot_text, format, time_limit, diagnostics, stop);
}

std::string described_svg(std::string svg, const std::string& description) {
  const std::size_t end = svg.find('>', svg.find("<svg"));
  if (end != std::string::npos) svg.insert(end + 1, fmt::format("\n<desc>{}</desc>", escaped(description)));
  return svg;
}

std::string inline_svg(const std::string& svg, const std::string& prefix) {
  std::string text = svg.substr(std::min(svg.size(), svg.find("<svg")));
  // Comments name nodes; nothing reads them.
  for (std::size_t at = 0; (at = text.find("<!--", at)) != std::string::npos;) {
    const std::size_t end = text.find("-->", at);
    if (end == std::string::npos) break;
    text.erase(at, end + 3 - at + (text.compare(end + 3, 1, "\n") == 0 ? 1 : 0));
  }
  const std::string wanted = " id=\"";
  for (std::size_t at = 0; (at = text.find(wanted, at)) != std::string::npos; at += wanted.size() + prefix.size()) {
    text.insert(at + wanted.size(), prefix);
  }
  return text;
}

}  // namespace stowage
