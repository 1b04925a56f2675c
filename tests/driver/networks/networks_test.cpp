// SPDX-License-Identifier: Apache-2.0
#include "driver/networks/networks.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/driver/networks/model_file.h"
#include "tests/driver/networks/scratch_file.h"
#include "tests/places.h"

namespace stowage {
namespace {

using test::ScratchFile;

test::ModelFile written(const std::string& network) {
  const ScratchFile file(network);
  Diagnostics diagnostics;
  const auto result = write_network(network, {}, file.path(), diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(result);
  CHECK(*result == file.path());
  return test::read_model_file(file.path());
}

/// Exact parameters, and below each the figure that is commonly published.
struct NetworkCount {
  const char* network;
  std::int64_t parameters;
  const char* published;
};

const NetworkCount network_counts[] = {
    {"alexnet", 61'100'840, "61100840 (torchvision)"},
    {"bert_base", 109'482'240, "110 M (Devlin et al. 2018)"},
    {"cifarnet", 1'756'426, ""},
    {"dcgan", 3'576'704, ""},
    {"googlenet", 6'998'552, "6.8 M (Szegedy et al. 2014, sum of table 1)"},
    {"lenet", 431'080, "431 K (Han et al. 2015)"},
    {"matmul", 0, ""},
    {"mobilenet_v1", 4'231'976, "4.2 M (Howard et al. 2017)"},
    {"mobilenet_v2", 3'504'872, "3504872 (torchvision), 3.4 M (Sandler et al. 2018)"},
    {"resnet18", 11'689'512, "11689512 (torchvision)"},
    {"resnet50", 25'557'032, "25557032 (torchvision)"},
    {"vector", 0, ""},
    {"vgg16", 138'357'544, "138357544 (torchvision), 138 M (Simonyan and Zisserman 2014)"},
    {"vgg19", 143'667'240, "143667240 (torchvision), 144 M (Simonyan and Zisserman 2014)"},
};

TEST_CASE("each sample network has exactly its parameters", "[networks]") {
  for (const NetworkCount& count : network_counts) {
    INFO(count.network << ", published: " << count.published);
    const auto file = written(count.network);
    CHECK(test::parameter_count(file) == count.parameters);
    for (const auto& weight : file.weights) {
      INFO(weight.name);
      CHECK(weight.raw_bytes == weight.elements * (weight.data_type == 1 ? 4 : 8));
    }
  }
}

TEST_CASE("every sample network has its counts tested", "[networks]") {
  std::vector<std::string> tested;
  for (const NetworkCount& count : network_counts) tested.emplace_back(count.network);
  CHECK(tested == network_names());
  CHECK(std::is_sorted(tested.begin(), tested.end()));
}

TEST_CASE("the same seed gives the same file and another seed another", "[networks]") {
  const ScratchFile first("seed_1");
  const ScratchFile again("seed_1_again");
  const ScratchFile other("seed_2");
  Diagnostics diagnostics;
  REQUIRE(write_network("lenet", {.seed = 1}, first.path(), diagnostics));
  REQUIRE(write_network("lenet", {.seed = 1}, again.path(), diagnostics));
  REQUIRE(write_network("lenet", {.seed = 2}, other.path(), diagnostics));
  CHECK(first.bytes() == again.bytes());
  CHECK(first.bytes().size() > 4 * 431'080);
  CHECK(first.bytes() != other.bytes());
}

TEST_CASE("a misspelt network is refused with the nearest name", "[networks]") {
  Diagnostics diagnostics;
  const ScratchFile file("misspelt");
  REQUIRE_FALSE(write_network("resnet5O", {}, file.path(), diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries()[0].code == "unknown-network");
  CHECK(diagnostics.entries()[0].message == "there is no sample network 'resnet5O'");
  CHECK(diagnostics.entries()[0].remedy == "did you mean 'resnet50'?");
  CHECK_FALSE(std::filesystem::exists(file.path()));
}

TEST_CASE("an impossible batch is refused", "[networks]") {
  for (const std::int64_t batch : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 62}) {
    Diagnostics diagnostics;
    const ScratchFile file("batch");
    REQUIRE_FALSE(write_network("lenet", {.batch = batch}, file.path(), diagnostics));
    CHECK(diagnostics.entries()[0].code == "invalid-batch");
    CHECK_FALSE(std::filesystem::exists(file.path()));
  }
}

TEST_CASE("a network that cannot be written leaves nothing behind", "[networks]") {
  Diagnostics diagnostics;
  const std::string path = test::build_folder().string() + "/no/such/folder/lenet.onnx";
  REQUIRE_FALSE(write_network("lenet", {}, path, diagnostics));
  CHECK(diagnostics.entries()[0].code == "cannot-write");
  CHECK(diagnostics.entries()[0].location.file == path);
  CHECK_FALSE(std::filesystem::exists(test::build_folder() / "no"));
}

}  // namespace
}  // namespace stowage
