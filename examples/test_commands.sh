#!/usr/bin/env bash
# Every command in the comments that open the examples runs, and prints what stands behind its `#`.
# usage: test_commands.sh FOLDER_OF_RVM SOURCE_FOLDER
set -uo pipefail
PATH=$(cd "$1" && pwd):$PATH
root=$(cd "$2" && pwd)
work=$(mktemp -d) # where the commands write
trap 'rm -rf "$work"' EXIT
ln -s "$root/examples" "$work/examples"
cd "$work" || exit

# The commands, a line each: continuation lines joined, the comment's own mark removed.
commands() { sed -e ':a' -e '/^#.*\\$/{N;s/ *\\\n# */ /;ba}' "$1" | sed -n 's/^#   \(rvm .*\)/\1/p'; }

# Compares "name = value, name = [value, value]" with the lines that were printed, to six digits.
compare='
function numbers(text, out) {
    while (match(text, /[0-9.][-+][0-9.]+(e[-+]?[0-9]+)?i/)) # a complex number is two
        text = substr(text, 1, RSTART) " " substr(text, RSTART + 1)
    gsub(/[^-+.0-9e]+/, " ", text); gsub(/\.\.\./, "", text); return split(text, out, " ")
}
function find(name, want, i, n, a, b) {
    for (i = 1; i <= nlines; i++) {
        if (index(line[i], name " = ") != 1) continue
        n = numbers(want, a)
        if (n == 0 || numbers(substr(line[i], length(name) + 4), b) != n) return 0
        for (; n > 0; n--) if ((a[n] - b[n]) ^ 2 > 1e-12 * (1 + a[n] ^ 2)) return 0
        return 1
    }
    return 0
}
{ line[++nlines] = $0 }
END {
    while (match(wanted, /(d [A-Za-z_.]+ \/ d )?[A-Za-z_.]+ = (\[[^=]*\]|[^],=]+)/)) {
        item = substr(wanted, RSTART, RLENGTH)
        wanted = substr(wanted, RSTART + RLENGTH)
        at = index(item, " = ")
        if (!find(substr(item, 1, at - 1), substr(item, at + 3))) { print "    expected " item; bad = 1 }
    }
    exit bad
}'

count=0 failed=0
for file in examples/*.rasm examples/*/*.rasm; do
    while IFS= read -r command; do
        count=$((count + 1))
        wanted=
        [[ $command != *" # "* ]] || wanted=${command#* # }
        if ! output=$(bash -c "${command%% # *}" 2>&1) || ! awk -v wanted="$wanted" "$compare" <<<"$output"; then
            printf 'failed: %s\n%s\n' "$command" "$output"
            failed=$((failed + 1))
        fi
    done < <(commands "$file")
done
echo "$count commands, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
