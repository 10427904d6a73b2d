#!/usr/bin/env bash
# Which file calls which, by the symbols of the object files: a room has no circle but those listed here, and no room reaches
# one above it. The commands use public symbols only. Argument: the build folder.
set -eu
# Rooms from the lowest up; rooms of one line may use each other.
rooms='isa/table
isa/program
isa/analysis
isa/verify
isa/rbc
isa/derive
assembler
schedules
vm vm/interp vm/trail vm/native vm/profile vm/debug
vm/derivatives
coprocessor
jit/host
jit/lower jit/lanes jit/device jit/llvm
cuda
tools
tools/client
tools/serve'
# Rooms with a circle, or the files of a room that have one: none. A descent over the source is within a file of assembler/; in
# jit/lower functions that are met are declared, and emitted later.
circles=''
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"
# Objects of sources that are gone stay in a build folder.
find isa assembler schedules vm coprocessor jit cuda tools -name '*.c.o' -not -path 'isa/CMakeFiles/rvm_docgen*' | sort |
    while read -r object; do
        source=$(sed -E 's#CMakeFiles/[^/]*\.dir/##; s#\.o$##' <<<"$object")
        if [ -f "$root/$source" ]; then echo "$object"; fi
    done | xargs nm -A -P 2>/dev/null |
    sed -E 's#/?CMakeFiles/[^/]*\.dir/#/#; s#\.c\.o##' |
    awk -v rooms="$rooms" -v circles="$circles" '
    { file = $1; sub(/:$/, "", file) }
    $3 ~ /^[TDBRVWC]$/ { home[$2] = file }
    $3 == "U" { uses[file, $2] = 1 }
    function room(f) { sub(/\/[^\/]*$/, "", f); return f }
    END {
        n = split(rooms, line, "\n")
        for (k = 1; k <= n; k++) { m = split(line[k], names, " "); for (j = 1; j <= m; j++) rank[names[j]] = k }
        for (pair in uses) {
            split(pair, part, SUBSEP)
            to = home[part[2]]
            if (to == "" || to == part[1]) continue
            a = room(part[1]); b = room(to)
            if (a ~ /^tools/ && part[2] ~ /^rvm__/) { print part[1] " uses " part[2] ", which is not public"; bad = 1 }
            if (!(a in rank)) { print a ": a room that no line here names"; bad = 1; continue }
            if (a == b) edge[part[1] " " to] = 1
            else if (b in rank && rank[b] > rank[a]) { print part[1] " reaches up to " to " (" part[2] ")"; bad = 1 }
            count++
        }
        # Without files that nothing in the room uses, or that use nothing there, again and again: what stays are circles.
        do {
            again = 0
            delete ins; delete outs
            for (e in edge) { split(e, part, " "); outs[part[1]] = 1; ins[part[2]] = 1 }
            for (e in edge) {
                split(e, part, " ")
                if (!(part[1] in ins) || !(part[2] in outs)) { delete edge[e]; again = 1 }
            }
        } while (again)
        m = split(circles, names, " ")
        for (k = 1; k <= m; k++) known[names[k]] = 1
        for (e in edge) {
            split(e, part, " ")
            r = room(part[1])
            if (r in known) met[r] = 1
            else if ((part[1] in known) && (part[2] in known)) met[part[1]] = met[part[2]] = 1
            else found[r] = found[r] "\n    " part[1] " -> " part[2]
        }
        for (r in found) { print r ": a circle" found[r]; bad = 1 }
        for (r in known) if (!(r in met)) { print r ": listed here, but has no circle any more"; bad = 1 }
        print count + 0 " uses of symbols between files"
        exit bad || !count
    }'
