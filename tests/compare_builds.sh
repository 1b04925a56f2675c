#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# compare_builds.sh OLD_STOWAGE NEW_STOWAGE [NETWORK...]   whether two builds of the tool plan alike: both compile the
# sample networks (all that both have, or those that are named) with every strategy and planner below, and groups,
# schedules, counts and cycles are compared. Each difference is a line of network, strategy, planner, key, old, new;
# "-" stands for what a build does not have. Exits with 1 if there is any. Seconds, paths, versions, names of kernels
# and texts of nests are left out: cycles and counts are made of the nests. All networks take hours; STRATEGIES and
# PLANNERS may name fewer.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '3,4s/^# //p' "$0" >&2; exit 2; }
old="$(realpath "$1")"
new="$(realpath "$2")"
shift 2
read -ra strategies <<<"${STRATEGIES:-none greedy tvm dnnvm exact}"
read -ra planners <<<"${PLANNERS:-swtvm searched}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export STOWAGE_CACHE_DIR=  # the costs that another build has kept would hide what this one computes

# names TOOL: its sample networks, sorted.
names() { "$1" network --json | sed -n 's/^ *"name": "\(.*\)",\{0,1\}$/\1/p' | sort; }

# flattened FILE...: what is compared of JSON as the tool prints it, one value a line, "KEY<tab>VALUE". An element of a list
# is called by its "name" where that comes first, as a step's does, so that one group more does not move all others.
flattened() {
  awk '
    function key_of(depth,    k, i) { k = path[1]; for (i = 2; i <= depth; i++) k = k "." path[i]; return k }
    # What is inside of `depth` containers; an element of a list is called by its number.
    function enter(line) {
      if (match(line, /^"[^"]*": /)) { path[depth] = substr(line, 2, RLENGTH - 4); return substr(line, RLENGTH + 1) }
      path[depth] = count[depth]++
      return line
    }
    FNR == 1 { depth = 0 }
    {
      line = $0
      sub(/^ */, "", line)
      sub(/,$/, "", line)
      if (line ~ /^[]}]/) { depth--; next }
      if (depth == 0) { depth = 1; count[1] = 0; next }
      if (line ~ /^"name": / && count[depth] == 0) { path[depth - 1] = substr(line, 10, length(line) - 10) }
      value = enter(line)
      if (value == "{" || value == "[") { depth++; count[depth] = 0; next }
      key = key_of(depth)
      if (key ~ /^(command|stowage|model|target|graph|diagnostics)(\.|$)/) next
      if (key ~ /(^|[._])(path|hash|kernel|nest|stages|values)(\.|$)/) next
      if (key ~ /(_s|_s\..*)$/ || key ~ /(^|\.)time(\.|$)/) next
      print key "\t" value
    }' "$@"
}

# compiled TOOL OUT NETWORK STRATEGY PLANNER: what one build plans, in OUT; of what it refuses its exit code.
compiled() {
  local code=0
  "$1" compile "$3.onnx" --fusion "$4" --planner "$5" --cost-cache none --json -o plan >totals.json 2>err.txt || code=$?
  printf 'exit code\t%d\n' "$code" >"$2"
  if [ $code -eq 0 ]; then flattened totals.json plan/plan.json | sort -u >>"$2"; fi
  rm -rf plan  # it has all weights
}

if [ $# -gt 0 ]; then
  networks=("$@")
else
  mapfile -t networks < <(comm -12 <(names "$old") <(names "$new"))
fi
[ ${#networks[@]} -gt 0 ] || { echo "no network that both builds have" >&2; exit 2; }

compared=0
for network in "${networks[@]}"; do
  "$new" network "$network" -o "$network.onnx" >/dev/null  # one file for both
  for strategy in "${strategies[@]}"; do
    for planner in "${planners[@]}"; do
      compiled "$old" old.txt "$network" "$strategy" "$planner"
      compiled "$new" new.txt "$network" "$strategy" "$planner"
      compared=$((compared + 1))
      awk -F '\t' -v where="$network"$'\t'"$strategy"$'\t'"$planner" '
        NR == FNR { old[$1] = $2; next }
        { if (!($1 in old)) print where "\t" $1 "\t-\t" $2; else if (old[$1] != $2) print where "\t" $1 "\t" old[$1] "\t" $2
          seen[$1] = 1 }
        END { for (key in old) if (!(key in seen)) print where "\t" key "\t" old[key] "\t-" }' old.txt new.txt |
        sort | tee -a differences.txt
    done
  done
  rm "$network.onnx"
done
count=$(wc -l <differences.txt)
echo "$compared compilations compared, $count differences" >&2
[ "$count" -eq 0 ]
