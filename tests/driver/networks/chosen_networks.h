// SPDX-License-Identifier: Apache-2.0
// Sample networks that a test takes.
#pragma once

#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "driver/networks/networks.h"

namespace stowage::test {

/// Those that STOWAGE_NETWORKS names ("resnet50 vgg16", or "all"); the small ones if it is not set.
inline std::vector<std::string> chosen_networks(std::vector<std::string> small) {
  const char* const text = std::getenv("STOWAGE_NETWORKS");
  if (text == nullptr) return small;
  if (std::string(text) == "all") return network_names();
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace stowage::test
