#!/usr/bin/env bash
# What docs/commands.md shows of the debugger is what it prints. debug.sh RASM RVM SOURCE
set -eu
rasm=$(realpath "$1") rvm=$(realpath "$2") tree=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$tree/examples" examples
mkdir bin
ln -s "$rvm" bin/rvm
"$rasm" examples/norm.rasm -o norm.rbc
PATH=$work/bin:$PATH

# Each command to a file, and what is printed below it to another.
awk '
    /^```/ { on = 0 }
    /^\$ / { on = /\| rvm debug /; if (on) { n++; print substr($0, 3) >("command." n) }; next }
    on { print >("expected." n) }
' "$tree/docs/commands.md"
status=0 count=0
for command in command.*; do
    count=$((count + 1))
    bash "$command" >printed 2>&1
    diff "expected.${command#*.}" printed || { echo "FAILED: $(cat "$command")" && status=1; }
done
[ $count -ge 3 ] || { echo "FAILED: $count commands found" && status=1; }
exit $status
