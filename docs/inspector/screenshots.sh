#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the pictures of docs/inspector: every pane with ResNet-50, replay with the papers' matmul, sensitivity
# with ResNet-18 by the published planner.
#   docs/inspector/screenshots.sh BUILD_FOLDER [FOLDER_FOR_THE_PICTURES]
# Needs no display. With ImageMagick or pngquant installed the pictures have few colours and are small.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stowage=$build/driver/stowage
inspector=$build/inspector/stowage-inspector
cd "$work"
"$stowage" network resnet50 -o resnet50.onnx >resnet50.log
"$stowage" compile resnet50.onnx -o resnet50 >>resnet50.log
"$stowage" network resnet18 -o resnet18.onnx >>resnet50.log
"$stowage" compile resnet18.onnx --planner swtvm -o resnet18 >>resnet50.log
"$stowage" compile resnet50.onnx --fusion greedy -o greedy >>resnet50.log
matmul=$build/inspector/samples/matmul

# picture NAME PANE LAYOUT SIZE OPTIONS... PLAN...
picture() {
  name=$1 pane=$2 layout=$3 size=$4
  shift 4
  # A pane that this build does not have (usage, 2) is left out; everything else that fails is a mistake.
  code=0
  "$inspector" --export window --pane "$pane" --layout "$layout" --size "$size" -o "$name.png" "$@" 2>"$name.log" || code=$?
  if [ "$code" -eq 2 ]; then
    echo "left out: $name"
    return
  elif [ "$code" -ne 0 ]; then
    cat "$name.log" >&2
    exit 1
  fi
  keep "$name"
}

# keep NAME: fewer colours, and into the folder of the pictures
keep() {
  name=$1
  if command -v pngquant >/dev/null; then
    pngquant --force --output "$name.png" 64 "$name.png"
  elif command -v convert >/dev/null; then
    convert "$name.png" +dither -colors 64 -define png:compression-level=9 "PNG8:$name.png"
  fi
  mv "$name.png" "$out/$name.png"
}

small=1280x800
large=2560x1440
tall=1280x1300
picture graph graph compile $small --op layer1_0_add resnet50
picture fusion fusion compile $small --op layer1_0_conv2 resnet50
picture loops loops compile $small --op layer1_0_conv3 resnet50
picture ldm ldm memory $small --op layer1_0_conv3 resnet50
picture timeline timeline compile $small --op layer1_0_conv3 resnet50
picture cost cost compile $small --op layer1_0_conv3 resnet50
picture tables tables compile $small --op layer1_0_conv3 resnet50
picture compare compare compile $small --op layer1_0_conv3 resnet50 greedy
picture sensitivity sensitivity compile $small resnet18
picture whatif whatif teach $tall --op layer1_0_conv3 resnet50
picture dark fusion compile $small --dark --op layer1_0_conv2 resnet50
picture large graph compile $large --op layer1_0_add resnet50
"$inspector" --export fusion --op layer1_0_conv2 --size 900x600 -o strategy.png resnet50
keep strategy
"$inspector" --export replay --op matmul --size $small -o replay.png "$matmul"
keep replay
du -ch "$out"/*.png | tail -1
