#!/usr/bin/env bash
# Runs the program of this folder and compares what it tried with the headers: every pointer and every kind (enum) of every function that is
# public, and what librvm.so exports with what the headers declare, but for vector functions (cmake/test_install.sh). Arguments: the program, librvm.so, the source folder.
set -euo pipefail
program=$1 library=$2 tree=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# "function parameter" of pointers, arrays, kinds and callbacks; "function" alone of each function.
cat "$tree"/isa/rvm_program.h "$tree"/isa/rvm_functions.h "$tree"/assembler/rvm_asm.h "$tree"/schedules/rvm_schedule.h "$tree"/vm/rvm.h "$tree"/vm/rvm_derivatives.h "$tree"/vm/rvm_profile.h "$tree"/vm/rvm_debug.h "$tree"/coprocessor/rvm_coprocessor.h "$tree"/jit/rvm_jit.h "$tree"/cuda/rvm_cuda.h |
    awk -v RS=';' '
    { gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, ""); gsub(/[ \t\n]+/, " ") }
    { text[NR] = $0 }
    match($0, /typedef enum [a-z_]+/) { kind[substr($0, RSTART + 13, RLENGTH - 13)] = 1 }
    match($0, /typedef [a-z]+ \(\*[a-z_]+\)/) { name = substr($0, RSTART, RLENGTH); gsub(/.*\*|\)/, "", name); kind[name] = 1 }
    END {
        for (r = 1; r <= NR; r++) {
            if (!match(text[r], /RVM_API [a-z]/)) continue
            proto = substr(text[r], RSTART)
            name = proto
            sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            print name
            params = proto
            sub(/[^(]*\(/, "", params); sub(/\) ?$/, "", params)
            n = split(params, list, ",")
            for (k = 1; k <= n; k++) {
                words = split(list[k], word, /[ *]+/)
                is = list[k] ~ /[*\[]/
                for (i = 1; i < words; i++) is = is || word[i] in kind
                last = word[words]
                sub(/\[.*/, "", last)
                if (is) print name, last
            }
        }
    }' | sort -u >"$scratch/declared"
grep -c . "$scratch/declared" >/dev/null || { echo "no function found in the headers" && exit 1; }

status=0
if command -v nm >/dev/null; then
    nm -D --defined-only "$library" | awk '$2 ~ /^[A-Z]$/ {print $3}' | grep '^rvm_[^_]' | sort -u >"$scratch/exported"
    grep -v ' ' "$scratch/declared" >"$scratch/functions"
    diff "$scratch/functions" "$scratch/exported" ||
        { echo "the headers (<) and librvm.so (>) disagree about what is public" && status=1; }
fi
"$program" >"$scratch/tried" || status=1
grep ' ' "$scratch/declared" >"$scratch/parameters" || true
sort -u "$scratch/tried" >"$scratch/once"
if ! diff "$scratch/parameters" "$scratch/once"; then
    echo "declared (<) and tried with NULL or no kind (>): add to tests/nulls/ what is missing"
    status=1
fi
[ $status -ne 0 ] || echo "$(grep -vc ' ' "$scratch/declared") functions, $(grep -c . "$scratch/parameters") parameters"
exit $status
