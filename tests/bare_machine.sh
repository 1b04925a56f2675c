#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bare_machine.sh [--with FILE] COMMAND   runs COMMAND, a line of bash, in a fresh clone of this checkout's HEAD on a bare Debian 12: a
# debootstrap folder of its own, entered with chroot, gone afterwards. It sees nothing of this machine but its
# processors, its network and how its apt reaches Debian's packages; FILE lies beside the clone. What it prints goes to a file that is kept; its last
# lines and the time are printed at the end, and its exit code is the exit code.
# Prints "skipped: …" and exits with 77 where no such machine can be made: not root, no debootstrap, no name spaces, no
# mirror.
set -uo pipefail

skip() {
  echo "skipped: $1"
  exit 77
}

# This half runs in name spaces of its own, so that all mounts and processes are gone when it ends, however it ends.
enter() {
  local root="$1" checkout="$2" head="$3" command="$4" file="$5"
  local mirror release component
  local -a sources=() first=()
  while read -r mirror release component; do
    case "$release $component" in
      "bookworm main" | "bookworm-updates main" | "bookworm-security main") ;;
      *) continue ;;
    esac
    sources+=("deb $mirror $release $component")
    [ "$release" != bookworm ] || first=("$mirror")
  done < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    sort -u)

  local include=bash # always there
  case "${sources[*]}" in *https:*) include=ca-certificates ;; esac
  # Without a mirror of this machine's own, debootstrap knows Debian's.
  debootstrap --variant=minbase --include="$include" bookworm "$root" "${first[@]}" || skip "debootstrap failed"

  [ ${#first[@]} -eq 0 ] || printf '%s\n' "${sources[@]}" >"$root/etc/apt/sources.list"
  apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https|Check-)' >"$root/etc/apt/apt.conf.d/90host"
  cp /etc/hosts /etc/resolv.conf "$root/etc/"
  git clone --quiet --no-hardlinks "$checkout" "$root/root/stowage" || return 1
  git -C "$root/root/stowage" checkout --quiet --detach "$head" || return 1

  [ -z "$file" ] || cp "$file" "$root/root/" || return 1
  mount -t proc proc "$root/proc" || return 1
  mount --rbind /dev "$root/dev" || return 1
  mount -t tmpfs tmpfs "$root/dev/shm" || return 1
  local -a environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
  for proxy in http_proxy https_proxy no_proxy; do
    [ -z "${!proxy:-}" ] || environment+=("$proxy=${!proxy}")
  done
  echo "bare machine: $command"
  env -i "${environment[@]}" chroot "$root" /bin/bash -c "cd /root/stowage && $command"
}

# Ending the first process of the name space ends all of them, and with the last one its mounts are gone.
tidy() {
  [ -z "$child" ] || kill -KILL "$child" 2>/dev/null
  [ -z "$child" ] || wait "$child" 2>/dev/null
  rm -rf --one-file-system "$root"
}

main() {
  if [ "${1:-}" = --enter ]; then
    shift
    enter "$@"
    exit
  fi

  local file=
  if [ "${1:-}" = --with ] && [ $# -gt 1 ]; then
    file="$(realpath -e "$2")" || exit 2
    shift 2
  fi
  if [ $# -ne 1 ] || [ -z "$1" ]; then
    echo "usage: bare_machine.sh [--with FILE] COMMAND" >&2
    exit 2
  fi
  [ "$EUID" -eq 0 ] || skip "not root"
  local tool
  for tool in debootstrap unshare chroot apt-get git; do
    command -v "$tool" >/dev/null || skip "no $tool"
  done
  local -a spaces=(unshare --mount --pid --fork --kill-child)
  "${spaces[@]}" true 2>/dev/null || skip "no name spaces of mounts and processes"

  local checkout head log status
  checkout="$(cd "$(dirname "$0")/.." && pwd)"
  head="$(git -C "$checkout" rev-parse HEAD)" || exit 1
  [ -z "$(git -C "$checkout" status --porcelain)" ] || echo "note: what is not committed is not on the bare machine"

  child=
  root="$(mktemp -d --tmpdir bare_machine.XXXXXXXX)" || exit 1
  chmod 755 "$root" # apt fetches as a user of its own
  log="$root.log"
  trap tidy EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  echo "commit ${head:0:12}, output in $log"
  set -m # a process group of its own: a background process without one would ignore Ctrl-C, and so would its tests
  "${spaces[@]}" bash "$0" --enter "$root" "$checkout" "$head" "$1" "$file" </dev/null >"$log" 2>&1 &
  child=$!
  wait "$child"
  status=$?
  child=
  tail -n 12 "$log"
  echo "exit code $status after $((SECONDS / 60)) min $((SECONDS % 60)) s: $1"
  exit "$status"
}

# All of this file is read before anything runs: the checkout may change meanwhile.
main "$@"
