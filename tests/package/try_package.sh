#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# try_package.sh FILE.deb   installs a package of ours, uses what it brings, and removes it again. Meant for a bare machine
# (tests/bare_machine.sh --with FILE.deb): as root, it installs what the package depends on, and a compiler at the end.
set -euo pipefail
deb="$(realpath -e "$1")"
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

say() { printf '\n== %s\n' "$*"; }
wanted() { [ -e "$1" ] || { echo "missing: $1" >&2; exit 1; }; }
install() { DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" </dev/null >apt.log 2>&1 || { cat apt.log; exit 1; }; }

say "what the package depends on"
depends="$(dpkg-deb -f "$deb" Depends)"
echo "$depends"
case "$depends" in *libc6*libonnx*) ;; *) echo "the dependencies are not named" >&2; exit 1 ;; esac
install update
install satisfy -y --no-install-recommends "$depends"

say "dpkg -i"
find / -xdev -not -path "$work/*" | sort >before.txt
dpkg -i "$deb"
dpkg --verify stowage

say "stowage --version --json"
stowage --version --json
stowage --version --json | grep -q '"plan_version": '

say "a sample network"
stowage network lenet -o lenet.onnx
stowage compile lenet.onnx -o lenet --cost-cache none | tail -n 5
stowage check lenet | tail -n 1

say "the inspector"
QT_QPA_PLATFORM=offscreen stowage-inspector --version
QT_QPA_PLATFORM=offscreen stowage-inspector /usr/share/stowage/samples/lenet --export ldm -o ldm.svg
wanted ldm.svg
wanted /usr/share/applications/stowage-inspector.desktop

say "completions"
bash -c '. /usr/share/bash-completion/completions/stowage; COMP_WORDS=(stowage run --level ""); COMP_CWORD=3; _stowage 2>/dev/null; echo "${COMPREPLY[@]}"' |
  tee completed.txt
grep -qx 'count check strict' completed.txt
wanted /usr/share/zsh/vendor-completions/_stowage
wanted /usr/share/fish/vendor_completions.d/stowage.fish

say "the package is gone without a rest"
cd /
dpkg -r stowage
cd "$work"
find / -xdev -not -path "$work/*" | sort >after.txt
# What else runs writes logs and caches of its own.
if diff before.txt after.txt | grep -i stowage; then
  echo "the package left something" >&2
  exit 1
fi
! command -v stowage >/dev/null

say "man stowage"
dpkg -i "$deb" >/dev/null
install install -y --no-install-recommends man-db
man stowage-compile | head -n 12
man stowage-inspector | grep -q -e --layout
man stowage | grep -q 'plans of data movement'

say "emitted code runs with the packages that are recommended"
install install -y --no-install-recommends gcc libc6-dev
stowage run lenet --check | tail -n 4

say "a program built against the libraries"
# The packages that the package suggests are those for this.
suggests="$(dpkg-deb -f "$deb" Suggests)"
install install -y --no-install-recommends g++ cmake ninja-build ${suggests//,/ }
cmake -G Ninja -S "$here/consumer" -B build >cmake.log 2>&1 || { cat cmake.log; exit 1; }
cmake --build build
./build/consumer | tail -n 1

dpkg -r stowage
say "all of it works"
