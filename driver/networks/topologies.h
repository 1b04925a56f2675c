// SPDX-License-Identifier: Apache-2.0
// One function a sample network; driver/networks/networks.cpp lists them. docs/networks.md describes each.
#pragma once

namespace stowage {

class NetworkBuilder;

void build_alexnet(NetworkBuilder& builder);
void build_bert_base(NetworkBuilder& builder);
void build_cifarnet(NetworkBuilder& builder);
void build_dcgan(NetworkBuilder& builder);
void build_googlenet(NetworkBuilder& builder);
void build_lenet(NetworkBuilder& builder);
void build_matmul(NetworkBuilder& builder);
void build_mobilenet_v1(NetworkBuilder& builder);
void build_mobilenet_v2(NetworkBuilder& builder);
void build_resnet18(NetworkBuilder& builder);
void build_resnet50(NetworkBuilder& builder);
void build_vector(NetworkBuilder& builder);
void build_vgg16(NetworkBuilder& builder);
void build_vgg19(NetworkBuilder& builder);

}  // namespace stowage
