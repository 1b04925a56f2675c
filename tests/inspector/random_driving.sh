#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# random_driving.sh BUILD_FOLDER [SECONDS] [WIDTHxHEIGHT@SCALE...]
# Drives the inspector with random mouse and keys on an X display of its own, with a window manager, so long (60) on each
# screen: 1280x720@1, 1280x800@1 and 2560x1440@2 unless told. Fails on a crash, a report of a sanitizer, a message about
# a fault, or where the window does not answer. SEED=NUMBER repeats a run as far as time allows; HANG=SECONDS (60) is how
# long the window may take to answer. Needs the packages of the purpose "drive" (cmake/debian_packages.txt).
#
# Nothing outside a temporary folder can come to harm: HOME, TMPDIR and the working folder lie in it, root's rights are
# given up, in dialogs there is no mouse and no path is typed, and the window manager starts no programs.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '3,7s/^# //p' "$0"; exit 2; }
build="$(cd "$1" && pwd)" || exit 2
seconds="${2:-60}"
shift $(($# < 2 ? $# : 2))
screens=("$@")
[ ${#screens[@]} -gt 0 ] || screens=(1280x720@1 1280x800@1 2560x1440@2)
for tool in Xvfb openbox xdotool setpriv; do
  command -v "$tool" >/dev/null || { echo "random_driving: $tool is missing"; exit 2; }
done
if [ "$(id -u)" -eq 0 ]; then
  exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all bash "$0" "$build" "$seconds" "${screens[@]}"
fi

inspector="$build/inspector/stowage-inspector"
seed="${SEED:-$(($(date +%s) % 32768))}"
hang="${HANG:-60}"
work="$(mktemp -d /tmp/random_driving.XXXXXX)"
display='' server='' manager='' pid='' picked='' failed=''

mkdir -p "$work"/{home,tmp,run,plans}
chmod 700 "$work/run"
cp -r "$build"/inspector/samples/* "$work/plans/"
# No bindings but to give a window the keyboard, to move, maximize and close it.
cat >"$work/openbox.xml" <<'XML'
<openbox_config xmlns="http://openbox.org/3.4/rc"><focus><focusNew>yes</focusNew></focus><keyboard/><mouse>
<context name="Client"><mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
</context><context name="Titlebar"><mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/>
</mousebind><mousebind button="Left" action="Drag"><action name="Move"/></mousebind></context><context name="Maximize">
<mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind></context><context name="Close">
<mousebind button="Left" action="Click"><action name="Close"/></mousebind></context></mouse></openbox_config>
XML

finish() {
  for process in $pid $manager $server; do kill "$process" 2>/dev/null; done
  wait 2>/dev/null
  [ -n "$failed" ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
  echo "random_driving: $*"
  echo "random_driving: seed $seed, screen $screen; messages in $work"
  tail -n 40 "$work"/inspector.log "$work"/sanitizer.* 2>/dev/null
  failed=yes
  exit 1
}

alive() { kill -0 "$pid" 2>/dev/null; }
x() { DISPLAY=$display timeout "$hang" xdotool "$@" 2>/dev/null; }
# Into `picked`: a subshell would have random numbers of its own.
pick() { picked="${*:RANDOM % $# + 1:1}"; }
active_window() { x getactivewindow getwindowname; }
# The window's title ends so; Qt writes a dash of another length behind a dialog's title.
main_title='^Stowage inspector$| – Stowage inspector$'
pane_title='^(⚠ )?(Graph|Fusion|Loops|LDM|Cost|Replay|What if|Compare|Tables|Problems|Check)'
main_window() { x search --onlyvisible --name "$main_title" | head -1; }

start_inspector() {
  (
    cd "$work/plans" && exec env -i PATH="$PATH" LANG=C.UTF-8 DISPLAY="$display" HOME="$work/home" TMPDIR="$work/tmp" \
      XDG_RUNTIME_DIR="$work/run" QT_SCALE_FACTOR="$scale" \
      ASAN_OPTIONS="detect_leaks=0:log_path=$work/sanitizer" \
      UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:log_path=$work/sanitizer" "$inspector" "$@"
  ) >>"$work/inspector.log" 2>&1 &
  pid=$!
  local waited=0
  until [ -n "$(main_window)" ]; do
    alive || check_end
    [ $((waited++)) -lt $((hang * 4)) ] || fail "no window after $hang s"
    sleep 0.25
  done
}

# After the process has gone: by somebody's choice, or not.
check_end() {
  wait "$pid"
  local code=$?
  pid=''
  [ "$code" -eq 0 ] || fail "ended with exit code $code"
  check_reports
}

check_reports() {
  ! compgen -G "$work/sanitizer.*" >/dev/null || fail "a sanitizer reports"
  ! grep -qE 'internal error|a fault of Stowage|AddressSanitizer|runtime error' "$work/inspector.log" ||
    fail "a fault is reported"
}

# Whether the window answers: whatever is open is closed, and F1 must bring the help page.
check_answer() {
  local waited=0 main
  until x search --onlyvisible --name 'Stowage inspector: help' >/dev/null; do
    alive || return 0
    [ "$waited" -lt $((hang * 2)) ] || fail "no answer within $hang s"
    if [ $((waited++ % 8)) -eq 0 ]; then
      main="$(main_window)"
      x key Escape key Escape key Escape
      [ -z "$main" ] || x windowactivate "$main"
      x key F1
    fi
    sleep 0.5
  done
  x key Escape
}

main_keys=(Up Down Left Right Up Down Left Right Tab Tab shift+Tab Return space Escape Prior Next Home End plus minus
  a c e n o v 1 2 6 period parenleft parenright asterisk BackSpace Delete f shift+Up shift+Down shift+Left shift+Right
  ctrl+1 ctrl+2 ctrl+3 ctrl+4 ctrl+5 ctrl+6 ctrl+7 ctrl+8 ctrl+9 ctrl+0 ctrl+f ctrl+e ctrl+o ctrl+shift+o ctrl+z
  ctrl+shift+z ctrl+c ctrl+shift+c ctrl+a ctrl+Up ctrl+Down ctrl+shift+d ctrl+shift+u ctrl+shift+b ctrl+plus ctrl+minus
  ctrl+minus alt+Left alt+Right alt+Up alt+f alt+g alt+v alt+h F1 F2 Menu)
# No slash and no dot: what is saved has a name of its own in the working folder.
dialog_keys=(Escape Escape Escape Return Tab Down Up space a b c)

some_events() {
  local name="$1" events=() at
  for _ in 1 2 3 4 5; do
    if ! [[ $name =~ $main_title || $name =~ $pane_title ]]; then
      pick "${dialog_keys[@]}"
      events+=(key "$picked" sleep 0.05)
      continue
    fi
    at=(mousemove $((RANDOM % width)) $((RANDOM % height)))
    case $((RANDOM % 20)) in
      [0-6]) events+=("${at[@]}" click 1) ;;
      7) events+=("${at[@]}" click 3) ;;
      8) events+=("${at[@]}" click --repeat 2 --delay 20 1) ;;
      9)
        pick 4 5
        events+=("${at[@]}" click --repeat $((RANDOM % 8 + 1)) --delay 5 "$picked")
        ;;
      10 | 11)
        events+=("${at[@]}" mousedown 1)
        for _ in 1 2 3; do
          events+=(mousemove_relative -- $((RANDOM % 300 - 150)) $((RANDOM % 300 - 150)) sleep 0.02)
        done
        events+=(mouseup 1)
        ;;
      12) events+=("${at[@]}") ;;
      *)
        pick "${main_keys[@]}"
        events+=(key "$picked")
        ;;
    esac
    events+=(sleep 0.02)
  done
  x "${events[@]}"
}

drive() {
  width="${screen%%x*}" height="${screen#*x}" scale="${screen#*@}"
  height="${height%@*}"
  rm -rf "${work:?}/home" && mkdir "$work/home"
  exec 3< <(exec Xvfb -displayfd 1 -screen 0 "${width}x${height}x24" -nolisten tcp -ac 2>"$work/server.log")
  server=$!
  read -r -t 30 display <&3 || fail "no display: $(cat "$work/server.log")"
  display=":$display"
  DISPLAY=$display HOME="$work/home" openbox --config-file "$work/openbox.xml" >"$work/manager.log" 2>&1 &
  manager=$!
  sleep 1
  RANDOM=$seed
  start_inspector lenet
  local end=$((SECONDS + seconds)) batches=0 starts=1 name plans
  while [ $SECONDS -lt $end ]; do
    if ! alive; then
      check_end # closed by its button or menu
      pick lenet matmul lenet.onnx 'lenet matmul'
      read -ra plans <<<"$picked"
      start_inspector "${plans[@]}"
      starts=$((starts + 1))
    fi
    name="$(active_window)"
    if [ -n "$name" ]; then
      some_events "$name"
    else
      x windowactivate "$(main_window)"
    fi
    batches=$((batches + 1))
    [ $((batches % 50)) -ne 0 ] || { check_answer && check_reports; }
  done
  check_answer
  # Whether it ends well. What is asked about unsaved edits is answered by one of its buttons.
  local tries=0
  while alive && [ $((tries++)) -lt $((hang / 2)) ]; do
    x key Escape
    x key ctrl+q
    sleep 1
    if alive && ! [[ $(active_window) =~ $main_title ]]; then
      [ $((tries % 2)) -eq 0 ] || x key Tab
      x key Return
    fi
    sleep 1
  done
  ! alive || fail "does not end"
  check_end
  kill "$manager" "$server" 2>/dev/null
  wait "$manager" 2>/dev/null
  manager='' server=''
  echo "random_driving: $screen: $batches times 5 events in $seconds s, started $starts times, nothing found"
}

echo "random_driving: seed $seed"
for screen in "${screens[@]}"; do drive; done
