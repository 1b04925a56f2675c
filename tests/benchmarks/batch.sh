#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# batch.sh STOWAGE [JOBS]   measures what is promised of batches, with a release build of the tool, on an idle machine:
#   new      1,000 small jobs that were never run keep two cores busy over 95 % of the time: processor time over elapsed
#            time. Where others are at work, "chrt -r 1 bash batch.sh ..." gives a process what it can use of two cores but
#            5 %, which Linux keeps for others: 1.9. On a disk jobs wait until it has what they wrote:
#            TMPDIR=/dev/shm measures the batch alone
#   kept     JOBS jobs (10,000) that were run before take less than 1 ms each, and need at most 5 MiB more than a tenth
#            of them
set -euo pipefail
tool="$(realpath "$1")"
most="${2:-10000}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export STOWAGE_CACHE_DIR=

# jobs COUNT: a batch file of so many small jobs.
jobs() {
  printf '[defaults]\nplanner = "swtvm"\nfusion = "none"\n[[job]]\nname = "v"\nnetwork = "vector"\n[job.sweep]\n'
  printf '"target.ldm.bytes" = { from = 8192, to = %d, step = 4 }\n' $((8192 + 4 * ($1 - 1)))
}

# measured COMMAND...: sets elapsed and processor (seconds) and peak (KiB of the tool itself).
measured() {
  local begin end
  begin=$(date +%s.%N)
  TIMEFORMAT='%U %S'
  processor=$({ time "$@" >out.txt 2>err.txt; } 2>&1 | awk '{print $1 + $2}')
  end=$(date +%s.%N)
  elapsed=$(awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }')
}

# peak_of COMMAND...: the peak of its memory in MiB.
peak_of() {
  local peak=0 now
  "$@" >out.txt 2>err.txt &
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$!/status" 2>/dev/null) && [ -n "$now" ]; do
    peak=$now
    sleep 0.01
  done
  wait
  awk -v k="$peak" 'BEGIN { printf "%.1f", k / 1024 }'
}

jobs 1000 >new.toml
measured "$tool" batch new.toml -j 2
awk -v c="$processor" -v e="$elapsed" 'BEGIN {
  printf "new:  1000 jobs in %.2f s on 2 cores, %.2f of them busy: %.1f %%, of the 1.9 of a real-time process %.1f %%\n",
    e, c / e, 50 * c / e, 100 * c / e / 1.9 }'
few=$((most / 10))
peaks=()
for count in "$few" "$most"; do
  jobs "$count" >kept.toml
  "$tool" batch kept.toml -j 2 -o "kept-$count" >out.txt 2>err.txt
  measured "$tool" batch kept.toml -j 2 -o "kept-$count"
  peak=$(peak_of "$tool" batch kept.toml -j 2 -o "kept-$count")
  awk -v n="$count" -v c="$processor" -v e="$elapsed" -v p="$peak" \
    'BEGIN { printf "kept: %d jobs in %.2f s, %.3f ms of processor time each, peak %s MiB\n", n, e, 1000 * c / n, p }'
  peaks+=("$peak")
done
awk -v m="$((most - few))" -v a="${peaks[0]}" -v b="${peaks[1]}" \
  'BEGIN { printf "kept: %d more jobs need %.1f MiB more, %.2f KiB each\n", m, b - a, 1024 * (b - a) / m }'
