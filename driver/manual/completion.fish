# SPDX-License-Identifier: Apache-2.0
# Completion of @NAME@ @VERSION@ for fish, written by the program itself.

# Whether the cursor is at the argument of that place, beside options with values, which follow.
function __@NAME@_at
    set -l words (commandline -opc)
    set -l place 1
    set -l skip 0
    for word in $words[@FIRST@..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word $argv[2..-1]
            set skip 1
        else if not string match -q -- '-*' $word
            set place (math $place + 1)
        end
    end
    test $skip = 0; and test $place = $argv[1]
end

function __@NAME@_first
    test (count (commandline -opc)) -eq 1
end

function __@NAME@_in
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end

complete -c @NAME@ -f
