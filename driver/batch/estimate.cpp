// SPDX-License-Identifier: Apache-2.0
// The figures were measured on the sample networks, whose times they meet within a factor of three. Whole numbers only,
// so that every machine finds the same.
#include "driver/batch/estimate.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <tuple>

#include "core/operators.h"
#include "driver/networks/networks.h"
#include "lowering/program/planners.h"

namespace stowage {

namespace {

/// A convolution and another operator of a network whose shapes nobody has looked at.
constexpr std::int64_t usual_products = std::int64_t{1} << 26;
constexpr std::int64_t usual_other_products = std::int64_t{1} << 20;

NetworkSize size_of_model(const std::string& path) {
  NetworkSize size;
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(path, failure);
  Diagnostics ignored;  // the job says what is wrong
  const auto rows = failure ? Result<std::vector<CoverageRow>>(Failed{}) : onnx_coverage(path, ignored);
  if (!rows) return size;
  size.parameter_bytes = static_cast<std::int64_t>(bytes);
  for (const CoverageRow& row : *rows) {
    const auto nodes = static_cast<std::int64_t>(row.nodes.size());
    const OperatorRow* const kind = find_operator_row(row.operator_name);
    const bool is_convolution = kind != nullptr && kind->reduces_over == ReducesOver::convolution;
    size.operators += nodes;
    size.multiply_adds += nodes * (is_convolution ? usual_products : usual_other_products);
    // Networks repeat their layers.
    if (is_convolution) size.convolutions.insert(size.convolutions.end(), (row.nodes.size() + 1) / 2, usual_products);
  }
  return size;
}

/// What looking for the best plan of a convolution takes grows with the number of ways to cut it.
std::int64_t search_work(const NetworkSize& size) {
  constexpr int width_of_small = 15;
  std::int64_t work = 15 * size.operators;
  for (const std::int64_t products : size.convolutions) {
    const std::int64_t width =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(products))) - width_of_small;
    if (width > 0) work += 20 * width * width;
  }
  return work;
}

std::int64_t work_of(const Job& job, const NetworkSize& size) {
  std::int64_t work = 1 + 2 * size.operators + size.parameter_bytes / 100'000;
  if (job.keys->request.planner != published_planner) work += search_work(size);
  if (job.keys->check) work += 700 + size.multiply_adds / 400'000;
  return work;
}

}  // namespace

std::vector<std::int64_t> estimated_work(const std::vector<Job>& jobs) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, NetworkSize> sizes;
  std::vector<std::int64_t> work;
  for (const Job& job : jobs) {
    const auto [place, is_new] = sizes.try_emplace(
        {job.keys->network, job.keys->request.model, job.keys->network.empty() ? 0 : job.keys->network_batch});
    if (is_new) {
      NetworkOptions options;
      options.batch = job.keys->network_batch;
      place->second = job.keys->network.empty() ? size_of_model(job.keys->request.model)
                                                : size_of_network(job.keys->network, options);
    }
    work.push_back(work_of(job, place->second));
  }
  return work;
}

}  // namespace stowage
