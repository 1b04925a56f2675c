# SPDX-License-Identifier: Apache-2.0
# Completion of @NAME@ @VERSION@ for bash, written by the program itself. It uses nothing but bash.

# The options of a command, and those of them that have a value.
_@NAME@_table() {
  commands=@COMMANDS@
  case "$1" in
@OPTIONS@  esac
}

# The value of an option, or of an argument by its place.
_@NAME@_value() {
  case "$1" in
@VALUES@  esac
}

# Files that begin so, those of a kind: folder, any, or an ending. Folders lead on to others.
_@NAME@_files() {
  local line
  compgen -d -- "$1"
  case "$2" in
    folder) ;;
    any) compgen -f -- "$1" ;;
    *) compgen -f -X "!*$2" -- "$1" ;;
  esac | while IFS= read -r line; do [ -d "$line" ] || printf '%s\n' "$line"; done
}

# What may stand at the cursor, of names and of files, with what comes before it in the same word.
_@NAME@_offer() {
  local word="$1" names="$2" files="$3" before="$4" line
  while IFS= read -r line; do COMPREPLY+=("$before$line"); done < <(
    [ -z "$names" ] || compgen -W "$names" -- "$word"
    [ -z "$files" ] || _@NAME@_files "$word" "$files")
  # A quoted word, and where no file has that ending any other, is for readline itself.
  [ -z "$files" ] || compopt -o filenames -o default 2>/dev/null
  return 0
}

_@NAME@() {
  local word="${COMP_WORDS[COMP_CWORD]}" commands='' command='' options='' valued='' option='' names='' files='' before=''
  local -i first=@FIRST@ at place=1
  COMPREPLY=()
  if [ "$COMP_CWORD" -lt "$first" ]; then
    _@NAME@_table ''
    _@NAME@_offer "$word" "$commands $options" '' ''
    return
  fi
  [ "$first" -eq 1 ] || command="${COMP_WORDS[1]}"
  case "$command" in -*) command='' ;; esac
  _@NAME@_table "$command"
  for ((at = first; at < COMP_CWORD; ++at)); do
    case "${COMP_WORDS[at]}" in
      =) ;;
      -*)
        option=''
        case " $valued " in *" ${COMP_WORDS[at]} "*) option="${COMP_WORDS[at]}" ;; esac
        ;;
      *) if [ -n "$option" ]; then option=''; else place+=1; fi ;;
    esac
  done
  # "--level=c" is one word or three, as COMP_WORDBREAKS has it.
  case "$word" in
    =) word='' ;;
    --*=*) option="${word%%=*}" before="${word%%=*}=" word="${word#*=}" ;;
  esac
  if [ -n "$option" ]; then
    _@NAME@_value "$command $option"
  elif [ "${word#-}" != "$word" ]; then
    names="$options"
  else
    _@NAME@_value "$command $place"
  fi
  _@NAME@_offer "$word" "$names" "$files" "$before"
}

complete -F _@NAME@ @NAME@
