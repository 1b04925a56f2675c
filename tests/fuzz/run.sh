#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [SECONDS] [TARGET...]   builds the fuzz targets and runs each so long (60), two at a time. What is found lies in
# build/fuzz/findings, what was learnt in build/fuzz/corpus. Needs the packages clang and libclang-rt-14-dev.
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds="${1:-60}"
shift || true

names=("$@")
[ ${#names[@]} -gt 0 ] || for file in tests/fuzz/fuzz_*.cpp; do
  name="$(basename "$file" .cpp)"
  names+=("${name#fuzz_}")
done
cmake --preset fuzz >/dev/null || exit 1
cmake --build --preset fuzz -j "$(nproc)" --target "${names[@]/#/fuzz_}" || exit 1

# Seeds: what the samples, the documentation and the ONNX project's tests hold.
seeds() {
  case "$1" in
    nest)
      awk '/^nest /{inside=1} inside{print} /^}/{if (inside) exit}' docs/ir.md >build/fuzz/whole.nest && echo build/fuzz/whole.nest
      # The same with two slots of B, each half as large.
      sed -e 's/64\*ko/32*ko/g; s/+ 64/+ 32/g; s/ko < 16/ko < 32/; s/\[1,64\] at 512, 256/[1,32] at 512, 128/' \
        -e 's/f32\[64,128\] .*/f32[32,128] at 768, 32768 bytes = B[32*ko, 128*yo] slots 2/' \
        -e 's/-> BB .*/-> BB[ko % 2] from [32*ko, 128*yo]/; s/wait 6/wait BB[ko % 2]/; s/(AA, BB)/(AA, BB[ko % 2])/' \
        build/fuzz/whole.nest >build/fuzz/slots.nest && echo build/fuzz/slots.nest
      # The same on a mesh of 8 x 8 cores, with A for all of them.
      sed -e 's/^ *[0-9]*  *//; s/wait 4/wait AA/; s/wait 6/wait BB/; s/wait 9/wait CC/; s/for yo < 8 of y/for z < 1 of y/' \
        -e 's/variables x, yo, ko/&, z\ncore yo < 64 of y stride 1\nmesh 8 rows 8 columns/' \
        -e 's/128\*yo + 128/16*yo + 16/g; s/128\*yo/16*yo/g; s/\[1,128\] at 0, 512/[1,16] at 0, 64/; s/(AA, BB)/(AR, BB)/' \
        -e 's/f32\[64,128\] .*/f32[64,16] at 768, 4096 bytes = B[64*ko, 16*yo]\nbuffer AR f32[1,64] at 4864, 256 bytes = A[x, 64*ko]/' \
        -e 's/-> AA .*/-> AA of mesh/; s/^get B/broadcast AA of core ko -> AR of mesh over [x:x + 1, 64*ko:64*ko + 64]\nwait AR\n&/' \
        build/fuzz/whole.nest >build/fuzz/teams.nest && echo build/fuzz/teams.nest
      ;;
    npy)
      printf '\x93NUMPY\x01\x00\x76\x00%-117s\n\x00\x00\x80\x3f\x00\x00\x00\x40' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" >build/fuzz/whole.npy && echo build/fuzz/whole.npy
      ;;
    target) ls samples/targets/*.toml ;;
    template) ls fusion/templates/*.toml ;;
    batch) ls samples/batch/*.toml ;;
    results)
      for planner in swtvm searched; do
        printf '{"job":"%s","status":"done","stowage":"0.1.0","network":"matmul","target":"sw26010","fusion":"exact","planner":"%s",' \
          "$planner" "$planner"
        printf '"sweep":{"fusion":"exact"},"model_hash":"xxh64:e14af34ed4b950cd","groups":1,"kernels":1,"dma_transfers":1088,"dma_bytes":4460544,'
        printf '"ldm_peak_bytes":34880,"parameter_bytes":0,"activation_bytes":4202496,"cycles":516351,"time_s":0.000356,"summary":"compiled",'
        printf '"diagnostics":[{"severity":"warning","code":"a","message":"b","file":"c","line":1,"notes":["d"],"help":"e"}]}\n'
      done >build/fuzz/whole.jsonl && echo build/fuzz/whole.jsonl
      ;;
    schedule) ls samples/schedules/*.toml ;;
    onnx) find /usr/share/libonnx-testdata -name model.onnx -size -8k 2>/dev/null ;;
    *) true ;;
  esac
}

run_one() {
  local name="$1" corpus="build/fuzz/corpus/$1" n=0 own=()
  # Their inputs are whole files from the first one on.
  case "$name" in plan | trace) own=(-len_control=0) ;; esac
  mkdir -p "$corpus" build/fuzz/findings
  while read -r seed; do cp "$seed" "$corpus/seed_$((n++))"; done < <(seeds "$name")
  local log="build/fuzz/findings/$name.log"
  if LSAN_OPTIONS=suppressions=tests/suppressions/lsan.txt "build/fuzz/tests/fuzz/fuzz_$name" "$corpus" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=262144 -print_final_stats=1 "${own[@]}" \
    -artifact_prefix="build/fuzz/findings/$name-" >"$log" 2>&1 </dev/null; then
    echo "$name: nothing found, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
  else
    echo "$name: FOUND something, see $log"
    return 1
  fi
}

status=0
for ((i = 0; i < ${#names[@]}; i += 2)); do
  pids=()
  for name in "${names[@]:i:2}"; do run_one "$name" & pids+=($!); done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
done
exit $status
