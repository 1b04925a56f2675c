#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sum_up.sh LOG CASES   prints "7 passed, 0 failed", and ", 3 skipped" where there are such, of what ctest printed (LOG)
# and wrote to its own LastTest.log (CASES). Fails where LOG holds no summary.
set -uo pipefail

# CTest says "98% tests passed, 2 tests failed out of 123" and counts skipped tests as passed. How many cases a skipped
# test would have tried stands in its own output.
summary="$(grep -E 'tests passed, [0-9]+ tests? failed out of [0-9]+' "$1" | tail -n 1)"
[ -n "$summary" ] || exit 1
failed="$(sed -E 's/.*passed, ([0-9]+) tests? failed.*/\1/' <<<"$summary")"
total="$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$summary")"
tests="$(grep -c '\*\*\*Skipped' "$1")"
cases="$(awk '/^cases skipped: [0-9]+$/ { sum += $3 } END { print sum + 0 }' "$2")"
skipped=
[ "$cases" -eq 0 ] || skipped=", $cases skipped"
echo "$((total - failed - tests)) passed, $failed failed$skipped"
