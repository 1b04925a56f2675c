#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# install_packages.sh PURPOSE...   installs what is missing from cmake/debian_packages.txt for these purposes.
# Does nothing where everything is there; asks nothing; never upgrades or removes.
set -euo pipefail
list="$(dirname "$0")/debian_packages.txt"

if ! command -v dpkg-query >/dev/null; then
  echo "not a Debian system: going on with what is installed (see $list)" >&2
  exit 0
fi

missing=()
for purpose in "$@"; do
  while read -r kind package _; do
    [ "$kind" = "$purpose" ] || continue
    state="$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)"
    [ "$state" = installed ] || missing+=("$package")
  done <"$list"
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    echo "packages are missing and neither root nor password-less sudo is at hand; install them with" >&2
    echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

echo "installing ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get -q -o Dpkg::Use-Pty=0)
"${apt[@]}" update </dev/null >/dev/null
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null
