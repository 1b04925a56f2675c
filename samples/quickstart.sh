#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The main job on real input, from a bare Debian 12 machine: installs what is missing, builds the tool (no tests, no
# window), writes two networks as ONNX, compiles them for SW26010, runs the emitted code in emulation, and compares every
# fused operator with the reference. What it makes lies in build/quickstart.
set -euo pipefail
cd "$(dirname "$0")/.."

bash cmake/install_packages.sh build
cmake --preset tool </dev/null >/dev/null
cmake --build --preset tool -j "$(nproc)" --target stowage </dev/null

stowage="$PWD/build/tool/driver/stowage"
rm -rf build/quickstart
mkdir -p build/quickstart
cd build/quickstart

say() { printf '\n$ %s\n' "$*"; }

for network in lenet resnet18; do
  say stowage network "$network" -o "$network.onnx"
  "$stowage" network "$network" -o "$network.onnx"
  say stowage compile "$network.onnx" -o "$network" --force
  "$stowage" compile "$network.onnx" -o "$network" --force
  say stowage run "$network" --check
  "$stowage" run "$network" --check
done

# The papers' matmul on one core, told as the paper tells it.
say stowage network matmul -o matmul.onnx
"$stowage" network matmul -o matmul.onnx
say stowage compile matmul.onnx -o matmul --force --planner swtvm --set target.cores.count=1 --set target.ldm.reserved=0
"$stowage" compile matmul.onnx -o matmul --force --planner swtvm --set target.cores.count=1 --set target.ldm.reserved=0
say stowage explain matmul --op matmul --steps
"$stowage" explain matmul --op matmul --steps

printf '\nThe emitted code: build/quickstart/resnet18/src, its report: build/quickstart/resnet18/report.md\n'
