// SPDX-License-Identifier: Apache-2.0
// One function a sample network; driver/networks.cpp lists them. docs/networks.md describes each.
#pragma once

namespace stowage {

class NetworkBuilder;

void build_lenet(NetworkBuilder& builder);
void build_matmul(NetworkBuilder& builder);
void build_resnet18(NetworkBuilder& builder);
void build_resnet50(NetworkBuilder& builder);
void build_vector(NetworkBuilder& builder);

}  // namespace stowage
