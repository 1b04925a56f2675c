// SPDX-License-Identifier: Apache-2.0
#include "driver/checking/checked_nests.h"

#include <filesystem>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/session/session.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"

namespace stowage {

namespace {

/// Of a nest that is too long to be played through, what is known of all of it.
std::optional<std::string> unproved_rest(const LoopNest& nest, const Target& target, const NestCheck& check) {
  if (check.complete) return std::nullopt;
  auto broken = verify(nest, target);
  if (!broken) broken = verify_results(nest, target);
  return broken;
}

}  // namespace

Result<NestTexts> read_nest_texts(const std::string& folder, const std::string& op, const Backends& backends,
                                  Diagnostics& diagnostics) {
  const std::string file = (std::filesystem::path(folder) / "plan.json").string();
  const auto text = read_text_file(file, diagnostics);
  if (!text) return Failed{};
  SourceLocation location;
  location.file = file;
  NestTexts texts;
  std::vector<std::string> names;
  try {
    const Json plan = Json::parse(*text);
    const auto target = parse_target(joined(plan.at("target")), file, {}, diagnostics, families_of(backends));
    if (!target) return Failed{};
    texts.target = *target;
    for (const Json& step : plan.at("steps")) {
      if (!step.contains("nest") || !kind_of_step(step).empty()) continue;  // a view, or no kernel: it has no loop nest
      names.push_back(step.at("name").get<std::string>());
      if (op.empty() || op == names.back()) texts.nests.push_back({names.back(), joined(step.at("nest"))});
    }
  } catch (const std::exception& error) {
    diagnostics.error("damaged-plan", std::move(location), fmt::format("is no plan: {}", error.what()),
                      "give a folder that 'stowage compile -o' wrote, or the text of a nest");
    return Failed{};
  }
  if (texts.target.family != athread_family) {
    diagnostics.error("no-nests", std::move(location),
                      fmt::format("kernels of family '{}' are no loop nests", texts.target.family));
    return Failed{};
  }
  if (!op.empty() && texts.nests.empty()) {
    diagnostics.error("unknown-fused-operator", {}, fmt::format("no fused operator '{}' is launched", op),
                      suggest_name(op, names));
    return Failed{};
  }
  return texts;
}

CheckedNest checked(std::string name, LoopNest nest, UnknownValues unknown, const Target& target) {
  CheckedNest made;
  made.name = std::move(name);
  made.nest = std::move(nest);
  made.unknown = std::move(unknown);
  made.check = check_nest(made.nest, target);
  made.unproved = unproved_rest(made.nest, target, made.check);
  return made;
}

Result<CheckedNest> checked(const NestText& text, const Target& target, const std::string& file,
                            Diagnostics& diagnostics) {
  UnknownValues unknown;
  auto nest = parse_loop_nest(text.text, diagnostics, {}, file, &unknown);
  if (!nest) return Failed{};
  std::string name = text.name.empty() ? nest->name : text.name;
  return checked(std::move(name), *std::move(nest), std::move(unknown), target);
}

std::string line_of_statement(const CheckedNest& made, StatementId statement) {
  std::istringstream lines(to_text(made.nest, made.unknown));
  const std::string number = std::to_string(statement.index()) + "  ";
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
    text += fmt::format("  {}\n    {}\n", text_of(execution), line_of_statement(made, execution.statement));
  };
  if (fault.at) add(*fault.at);
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

}  // namespace stowage
