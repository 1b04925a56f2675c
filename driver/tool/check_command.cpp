// SPDX-License-Identifier: Apache-2.0
// Nests played through, core by core, and what goes wrong in them. A folder's nests are read as they are written,
// whether or not the other commands would take them.
#include "driver/tool/check_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <sstream>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/session/session.h"
#include "lowering/check/check_nest.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"

namespace stowage {

namespace {

/// A nest with the lines that statements have in its text.
struct CheckedNest {
  std::string name;
  LoopNest nest;
  UnknownValues unknown;
  NestCheck check;
  /// Why it is not known to be good although all that was looked at is.
  std::optional<std::string> unproved;

  [[nodiscard]] bool is_good() const { return check.faults.empty() && !unproved; }
};

struct NestText {
  std::string name;
  std::string text;
};

struct CheckedTexts {
  Target target;
  std::vector<NestText> nests;
};

Result<CheckedTexts> folder_texts(const CheckOptions& options, const ToolContext& context, Diagnostics& diagnostics) {
  const std::string file = (std::filesystem::path(options.path) / "plan.json").string();
  const auto text = read_text_file(file, diagnostics);
  if (!text) return Failed{};
  SourceLocation place;
  place.file = file;
  CheckedTexts texts;
  std::vector<std::string> names;
  try {
    const Json plan = Json::parse(*text);
    const auto target = parse_target(joined(plan.at("target")), file, {}, diagnostics, families_of(context.backends));
    if (!target) return Failed{};
    texts.target = *target;
    for (const Json& step : plan.at("steps")) {
      if (!step.contains("nest")) continue;  // a view
      names.push_back(step.at("name").get<std::string>());
      if (options.op.empty() || options.op == names.back())
        texts.nests.push_back({names.back(), joined(step.at("nest"))});
    }
  } catch (const std::exception& error) {
    diagnostics.error("damaged-plan", std::move(place), fmt::format("is no plan: {}", error.what()),
                      "give a folder that 'stowage compile -o' wrote, or the text of a nest");
    return Failed{};
  }
  if (texts.target.family != athread_family) {
    diagnostics.error("no-nests", std::move(place),
                      fmt::format("kernels of family '{}' are no loop nests", texts.target.family));
    return Failed{};
  }
  if (!options.op.empty() && texts.nests.empty()) {
    diagnostics.error("unknown-fused-operator", {}, fmt::format("no fused operator '{}' is launched", options.op),
                      suggest_name(options.op, names));
    return Failed{};
  }
  return texts;
}

Result<CheckedTexts> read_texts(const CheckOptions& options, const ToolContext& context, Diagnostics& diagnostics) {
  std::error_code failure;
  if (std::filesystem::is_directory(options.path, failure)) return folder_texts(options, context, diagnostics);
  CompileRequest request;
  request.target = options.target.empty() ? "sw26010" : options.target;
  request.settings = options.settings;
  const auto target = target_of(request, diagnostics);
  const auto text = read_text_file(options.path, diagnostics);
  if (!target || !text) return Failed{};
  return CheckedTexts{*target, {{"", *text}}};
}

/// Of a nest that is too long to be played through, what is known of all of it.
std::optional<std::string> unproved_rest(const LoopNest& nest, const Target& target, const NestCheck& check) {
  if (check.complete) return std::nullopt;
  auto broken = verify(nest, target);
  if (!broken) broken = verify_results(nest, target);
  return broken;
}

Result<CheckedNest> checked(const NestText& text, const Target& target, const std::string& file,
                            Diagnostics& diagnostics) {
  CheckedNest made;
  auto nest = parse_loop_nest(text.text, diagnostics, {}, file, &made.unknown);
  if (!nest) return Failed{};
  made.nest = *std::move(nest);
  made.name = text.name.empty() ? made.nest.name : text.name;
  made.check = check_nest(made.nest, target);
  made.unproved = unproved_rest(made.nest, target, made.check);
  return made;
}

/// The statement's line in the text of its nest, without its number; empty for none.
std::string line_of(const CheckedNest& made, int statement) {
  if (statement < 0) return {};
  std::istringstream lines(to_text(made.nest, made.unknown));
  const std::string number = std::to_string(statement) + "  ";
  bool in_body = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    const bool is_here = in_body && line.compare(begin, number.size(), number) == 0;
    in_body = in_body || line.compare(begin, 6, "body {") == 0;
    if (is_here) return line.substr(line.find_first_not_of(' ', begin + number.size()));
  }
  return {};
}

std::string fault_text(const CheckedNest& made, const Fault& fault) {
  std::string text = fmt::format("{}: {} [{}]\n", made.name, fault.what, name_of(fault.family));
  const auto add = [&](const Execution& execution) {
    if (execution.statement < 0) return;
    text += fmt::format("  {}\n    {}\n", text_of(execution), line_of(made, execution.statement));
  };
  add(fault.at);
  if (fault.other) add(*fault.other);
  return text + fmt::format("  help: {}\n", remedy_of(fault.family));
}

std::string verdict_text(const CheckedNest& made) {
  const NestCheck& check = made.check;
  std::string text = made.is_good() ? "good" : counted(static_cast<std::int64_t>(check.faults.size()), "fault");
  if (made.unproved && check.faults.empty()) text = "not shown to be good";
  text += fmt::format(", {} on {}, {}", counted(check.executions, "execution"), counted(made.nest.cores_used(), "core"),
                      counted(check.transfers, "transfer"));
  if (check.not_looked_at > 0) text += fmt::format(", {} not looked at", counted(check.not_looked_at, "read"));
  if (!check.complete) {
    text += made.unproved ? fmt::format("; too long to be played to its end, and verify says {}", *made.unproved)
                          : "; too long to be played to its end, the rest is proved by the rules of the IR";
  }
  return fmt::format("{}: {}\n", made.name, text);
}

Json to_json(const CheckedNest& made, const Execution& execution) {
  Json json = {
      {"statement", execution.statement}, {"core", execution.core}, {"text", line_of(made, execution.statement)}};
  json["iteration"] = Json::object();
  for (const auto& [variable, value] : execution.iteration) json["iteration"][variable] = value;
  return json;
}

Json to_json(const CheckedNest& made) {
  Json json = {{"name", made.name},
               {"good", made.is_good()},
               {"executions", made.check.executions},
               {"transfers", made.check.transfers},
               {"not_looked_at", made.check.not_looked_at},
               {"complete", made.check.complete}};
  if (made.unproved) json["unproved"] = *made.unproved;
  json["faults"] = Json::array();
  for (const Fault& fault : made.check.faults) {
    Json row = {{"family", name_of(fault.family)}, {"what", fault.what}};
    if (fault.at.statement >= 0) row["at"] = to_json(made, fault.at);
    if (fault.other) row["other"] = to_json(made, *fault.other);
    row["remedy"] = remedy_of(fault.family);
    json["faults"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

int check_command(const CheckOptions& options, ToolContext& context) {
  std::error_code failure;
  const bool is_folder = std::filesystem::is_directory(options.path, failure);
  if (is_folder && !(options.target.empty() && options.settings.empty()))
    return usage_error(context, "check", "a folder has its own target", "leave out --target and --set");
  if (!is_folder && !options.op.empty())
    return usage_error(context, "check",
                       fmt::format("'{}' is no folder, of which --op could name a fused operator", options.path));
  Diagnostics diagnostics;
  const auto texts = read_texts(options, context, diagnostics);
  if (!texts) return failed(context, diagnostics);
  std::vector<CheckedNest> all;
  {
    ProgressLine progress(context);
    const ProgressSink sink = progress.sink();
    for (std::size_t n = 0; n < texts->nests.size(); ++n) {
      if (sink) sink("check", n, texts->nests.size());
      if (context.interrupt.token().stop_requested()) return failed(context, diagnostics);
      auto made = checked(texts->nests[n], texts->target, options.path, diagnostics);
      if (made) all.push_back(*std::move(made));
    }
  }
  if (diagnostics.has_errors()) return failed(context, diagnostics);
  const bool good = std::all_of(all.begin(), all.end(), [](const CheckedNest& made) { return made.is_good(); });
  if (context.json) {
    Json json = {
        {"stowage", stowage_version()}, {"command", "stowage check " + shell_quoted(options.path)}, {"good", good}};
    json["nests"] = Json::array();
    for (const CheckedNest& made : all) json["nests"].push_back(to_json(made));
    context.out << dumped(json, 1);
  } else {
    for (const CheckedNest& made : all) {
      context.out << verdict_text(made);
      for (const Fault& fault : made.check.faults) context.out << fault_text(made, fault);
    }
  }
  return good ? exit_done : exit_failed;
}

}  // namespace stowage
