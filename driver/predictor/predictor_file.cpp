// SPDX-License-Identifier: Apache-2.0
#include "driver/predictor/predictor_file.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "driver/json/damage.h"
#include "driver/json/json.h"

namespace stowage {

namespace {

constexpr std::string_view predictor_format = "stowage-cost-model";
constexpr int predictor_version = 2;
constexpr std::string_view remedy = "train a predictor anew: stowage train-cost";

Json to_json(const PredictionErrors& errors) {
  return {{"groups", errors.groups},
          {"samples", errors.samples},
          {"predicted", errors.predicted},
          {"median", errors.median},
          {"of_95_percent", errors.of_95_percent},
          {"largest", errors.largest}};
}

double number_of(const Json& entry) {
  const double number = entry.get<double>();
  if (!std::isfinite(number)) throw Damage("a number is not finite");
  return number;
}

PredictionErrors errors_of(const Json& json) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return {whole_number(json.at("groups"), 0, most),    whole_number(json.at("samples"), 0, most),
          whole_number(json.at("predicted"), 0, most), number_of(json.at("median")),
          number_of(json.at("of_95_percent")),         number_of(json.at("largest"))};
}

/// A node is [feature, threshold, left, right], a leaf [value].
Json to_json(const RegressionTree& tree) {
  Json nodes = Json::array();
  for (const RegressionTree::Node& node : tree.nodes) {
    nodes.push_back(!node.feature ? Json::array({node.value})
                                  : Json::array({*node.feature, node.threshold, node.left, node.right}));
  }
  return nodes;
}

RegressionTree tree_of(const Json& json) {
  const auto index = [](const Json& entry) {
    return static_cast<std::size_t>(whole_number(entry, 0, std::numeric_limits<int>::max()));
  };
  RegressionTree tree;
  for (const Json& node : json) {
    if (node.size() == 1) {
      tree.nodes.push_back({std::nullopt, 0, 0, 0, number_of(node.at(0))});
    } else {
      tree.nodes.push_back({index(node.at(0)), number_of(node.at(1)), index(node.at(2)), index(node.at(3)), 0});
    }
  }
  return tree;
}

BoostedTrees trees_of(const Json& start, const Json& rows) {
  BoostedTrees trees;
  trees.start = number_of(start);
  for (const Json& tree : rows) trees.trees.push_back(tree_of(tree));
  if (!is_sound(trees, plan_feature_table().size())) throw Damage("a node of a tree leads nowhere");
  return trees;
}

/// A tree a line, so that files can be compared and are not thousands of lines long.
std::string rows_of(const BoostedTrees& trees) {
  std::string text = "[";
  for (std::size_t t = 0; t < trees.trees.size(); ++t) {
    std::string row = dumped(to_json(trees.trees[t]));
    row.resize(row.find_last_of(']') + 1);
    text += fmt::format("{}\n  {}", t == 0 ? "" : ",", row);
  }
  return text + "\n ]";
}

Json feature_names() {
  Json names = Json::array();
  for (const PlanFeatureRow& row : plan_feature_table()) names.push_back(row.name);
  return names;
}

CostPredictor predictor_of(const Json& json) {
  CostPredictor predictor;
  predictor.target = json.at("target").get<std::string>();
  predictor.target_hash = json.at("target_hash").get<std::string>();
  predictor.seed = json.at("seed").get<std::uint64_t>();
  const Json& errors = json.at("errors");
  predictor.trained_with = errors_of(errors.at("trained_with"));
  predictor.held_out = errors_of(errors.at("held_out"));
  predictor.held_out_chosen = errors_of(errors.at("held_out_chosen"));
  predictor.never_asked = errors_of(errors.at("never_asked"));
  predictor.closed_form = errors_of(errors.at("closed_form"));
  predictor.doubted_from = number_of(json.at("doubted_from"));
  predictor.ratio = trees_of(json.at("start"), json.at("trees"));
  predictor.doubt = trees_of(json.at("doubt_start"), json.at("doubt_trees"));
  return predictor;
}

}  // namespace

std::string predictor_text(const CostPredictor& predictor, const std::string& command, std::string_view version) {
  Json json;
  json["command"] = command;
  json["format"] = predictor_format;
  json["version"] = predictor_version;
  json["stowage"] = version;
  json["target"] = predictor.target;
  json["target_hash"] = predictor.target_hash;
  json["seed"] = predictor.seed;
  json["errors"] = {{"trained_with", to_json(predictor.trained_with)},
                    {"held_out", to_json(predictor.held_out)},
                    {"held_out_chosen", to_json(predictor.held_out_chosen)},
                    {"never_asked", to_json(predictor.never_asked)},
                    {"closed_form", to_json(predictor.closed_form)}};
  json["features"] = feature_names();
  json["start"] = predictor.ratio.start;
  json["doubt_start"] = predictor.doubt.start;
  json["doubted_from"] = predictor.doubted_from;
  std::string text = dumped(json, 1);
  text.resize(text.find_last_of('}'));
  text.resize(text.find_last_not_of(" \n") + 1);
  return text + fmt::format(",\n \"trees\": {},\n \"doubt_trees\": {}\n}}\n", rows_of(predictor.ratio),
                            rows_of(predictor.doubt));
}

Result<CostPredictor> parse_predictor(std::string_view text, const std::string& path, Diagnostics& diagnostics) {
  SourceLocation location;
  location.file = path;
  const auto damaged = [&](const std::string& why) {
    diagnostics.error("damaged-cost-model", location, why, std::string(remedy));
    return Failed{};
  };
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", "") != predictor_format) {
      return damaged("it is no learned evaluator of Stowage");
    }
    if (json.at("version") != predictor_version) {
      return damaged(
          fmt::format("its version is {}, this tool reads version {}", json.at("version").dump(), predictor_version));
    }
    if (json.at("features") != feature_names()) {
      diagnostics.error("other-features", location,
                        "it was trained with other features of plans than this version of Stowage has",
                        std::string(remedy));
      return Failed{};
    }
    return predictor_of(json);
  } catch (const Json::exception& failure) {
    return damaged(in_words(failure));
  } catch (const std::exception& failure) {
    return damaged(failure.what());
  }
}

}  // namespace stowage
