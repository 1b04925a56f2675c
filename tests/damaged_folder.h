// SPDX-License-Identifier: Apache-2.0
// A plan folder of which one part at a time is damaged, by mistakes that depend on a seed alone.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mutated_json.h"
#include "tests/mutated_plan.h"

namespace stowage::test {

/// What is damaged: places of a file, JSON pointers. A place that stands there twice is damaged twice as often.
struct DamagedPart {
  std::string name;
  std::string file;
  std::vector<std::string> places;
};

class DamagedFolder {
 public:
  /// Writes the varied plan. The planners leave other traces.
  explicit DamagedFolder(std::filesystem::path folder, const std::string& planner = default_planner())
      : folder_(std::move(folder)) {
    write_varied_plan(folder_, planner);
    plan_ = text_of("plan.json");
    trace_ = text_of("trace.json");
    if (trace_.find("same_as") == std::string::npos) throw std::runtime_error("no row of the trace repeats others");
  }

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] const std::string& whole(const std::string& file) const { return file == "plan.json" ? plan_ : trace_; }

  /// Both files, and the texts of loop nests, which have a grammar of their own.
  [[nodiscard]] std::vector<DamagedPart> parts() const {
    DamagedPart nests = {"nests of plan.json", "plan.json", {}};
    const auto plan = nlohmann::json::parse(plan_);
    for (std::size_t i = 0; i < plan.at("steps").size(); ++i) {
      if (plan.at("steps")[i].contains("nest")) nests.places.push_back("/steps/" + std::to_string(i) + "/nest");
    }
    return {{"plan.json", "plan.json", {"", "/graph", "/steps", "/steps", "/steps", "/memory"}},
            {"trace.json", "trace.json", {"", "/records", "/records", "/fusion/candidates", "/fusion/graphs"}},
            std::move(nests)};
  }

  void damage(const DamagedPart& part, std::uint64_t seed) const {
    put(part.file, JsonMutator(whole(part.file), part.places, seed).next());
  }
  void mend(const DamagedPart& part) const { put(part.file, whole(part.file)); }

  void put(const std::string& file, std::string_view text) const {
    std::ofstream stream(folder_ / file, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    if (!stream) throw std::runtime_error("cannot write " + file);
  }

 private:
  [[nodiscard]] std::string text_of(const std::string& file) const {
    std::ifstream stream(folder_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder_;
  std::string plan_;
  std::string trace_;
};

}  // namespace stowage::test
