#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up on a Debian 12 machine, builds with warnings as errors and runs all tests. Needs no input and no
# network but Debian's packages. The last line says how many tests passed and failed, and how many cases were skipped
# because something is not on this machine; the exit code is 0 only if no test failed. PRESET chooses another preset
# (asan, tsan).
set -uo pipefail
cd "$(dirname "$0")/.."
preset="${PRESET:-ci}"
jobs="$(nproc)"

fail() {
  echo "$1" >&2
  echo "0 passed, 1 failed"
  exit 1
}

bash cmake/install_packages.sh build inspector test || fail "the packages could not be installed"
cmake --preset "$preset" </dev/null || fail "configuring failed"
cmake --build --preset "$preset" -j "$jobs" </dev/null || fail "building failed"

log="build/$preset/tests.log"
ctest --preset "$preset" -j "$jobs" --no-tests=error </dev/null 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

bash tests/sum_up.sh "$log" "build/$preset/Testing/Temporary/LastTest.log" || fail "the tests could not be run"
exit "$status"
