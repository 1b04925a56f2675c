// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/tool/tool_context.h"
#include "driver/training/training.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stowage {

struct TrainCostOptions {
  std::string target = "sw26010";
  std::vector<std::string> settings;
  std::string output;
  bool force = false;
  std::size_t samples = TrainingOptions{}.samples;
  std::uint64_t seed = TrainingOptions{}.seed;
  unsigned threads = 0;
  std::vector<std::string> networks;
};
void declare_train_cost(CLI::App& app, TrainCostOptions& options);
int train_cost_command(const TrainCostOptions& options, ToolContext& context);

}  // namespace stowage
