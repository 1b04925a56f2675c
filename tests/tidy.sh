#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-format and clang-tidy over the C++ files that differ from main; --all: over every one; or name files.
# Not part of tests/run.sh: clang-tidy takes some seconds a file. Needs the packages clang-format and clang-tidy and a
# configured build of preset dev.
set -uo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  --all) mapfile -t files < <(git ls-files '*.cpp' '*.h') ;;
  "") mapfile -t files < <({ git diff --name-only --diff-filter=d main -- '*.cpp' '*.h'
                             git ls-files --others --exclude-standard '*.cpp' '*.h'; } | sort -u) ;;
  *) files=("$@") ;;
esac
sources=()
for file in "${files[@]}"; do
  # What consumers and fuzzers build is not among the compile commands of preset dev.
  case "$file" in
    tests/package/* | tests/fuzz/* | tests/house/seeded_race.cpp) ;;
    *.cpp) sources+=("$file") ;;
  esac
done
[ ${#files[@]} -gt 0 ] || { echo "nothing to check"; exit 0; }

status=0
clang-format --dry-run -Werror "${files[@]}" || status=1
cmake --preset dev >/dev/null || exit 1
if [ ${#sources[@]} -gt 0 ]; then
  # GCC's warning switches are in the compile commands; clang need not know them all.
  printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -n 1 \
    clang-tidy --quiet -p build/dev --extra-arg=-Wno-unknown-warning-option 2>/dev/null || status=1
fi
[ $status -eq 0 ] && echo "${#files[@]} files are clean"
exit $status
