#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the pictures of docs/double-buffering.md: the inspector's window on a display that nobody sees (Xvfb), under a
# window manager (openbox), and panes of it alone.
#   docs/double-buffering/screenshots.sh BUILD_FOLDER [FOLDER_FOR_THE_PICTURES]
# Needs Xvfb and openbox (purpose "drive" of cmake/debian_packages.txt). With ImageMagick or pngquant installed the
# pictures have few colours and are small.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
server='' manager=''
finish() {
  [ -z "$manager" ] || kill "$manager" 2>/dev/null || true
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
cd "$work"
mkdir bin home
ln -s "$build/driver/stowage" bin/stowage
# The page's own commands and files make the plans.
sed -n '/^```toml/,/^```$/p' "$here/../double-buffering.md" | awk '
  /^```toml/ { getline; file = $2; print > file; next }
  /^```/ { file = ""; next }
  file != "" { print > file }'
grep '^\$ stowage \(network\|compile\|exercise [0-9]\)\|^\$ grep -v' "$here/../double-buffering.md" | grep -v wide.toml |
  sed 's/^\$ //' >commands.sh
PATH="$work/bin:$PATH" sh commands.sh >commands.log 2>&1 || { cat commands.log >&2; exit 1; }

mkfifo display
Xvfb -displayfd 3 -screen 0 1400x900x24 -nolisten tcp 3>display 2>server.log &
server=$!
read -r number <display
export DISPLAY=":$number" QT_QPA_PLATFORM=xcb HOME="$work/home" XDG_RUNTIME_DIR="$work"
openbox >manager.log 2>&1 &
manager=$!
sleep 1
# picture NAME OPTIONS... PLAN...
picture() {
  name=$1
  shift
  "$build/inspector/stowage-inspector" -o "$name.png" "$@"
  if command -v pngquant >/dev/null; then
    pngquant --force --output "$name.png" 64 "$name.png"
  elif command -v convert >/dev/null; then
    # What is called so need not be ImageMagick's.
    convert "$name.png" +dither -colors 64 -define png:compression-level=9 "PNG8:small.png" 2>/dev/null &&
      mv small.png "$name.png" || true
  fi
  mv "$name.png" "$out/$name.png"
}
picture single --export timeline --op matmul --cycles 28000-90000 --size 1000x400 --scale 1.5 single
picture double --export timeline --op matmul --cycles 28000-90000 --size 1000x400 --scale 1.5 double
picture resnet --export timeline --op layer1_0_conv3 --cycles 0-120000 --size 1000x400 --scale 1.5 resnet50 one-slot
picture no-wait --export window --pane check --layout check --size 1280x800 no-wait.nest
picture no-put-wait --export window --pane check --layout check --size 1280x800 no-put-wait.nest
picture exercise --export window --pane check --layout check --size 1280x800 lesson
du -ch "$out"/*.png | tail -1
