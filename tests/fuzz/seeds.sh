#!/bin/sh
# seeds.sh RASM TO FOLDER...: what the sources in these folders assemble to, as inputs of the targets: bytecode in TO/load, and
# in TO/verify with 4 bytes of seed behind it. So seeds are always of today's format. Sources that do not assemble are left
# out.
rasm=$1 to=$2
shift 2
rm -rf "$to/load" "$to/verify"
mkdir -p "$to/load" "$to/verify" || exit 1
find "$@" -name '*.rasm' | sort | while read -r source; do
    name=$(echo "${source%.rasm}" | tr -c 'A-Za-z0-9\n' _)
    "$rasm" "$source" -o "$to/load/$name.rbc" 2>/dev/null || continue
    { cat "$to/load/$name.rbc" && printf '\0\0\0\0'; } >"$to/verify/$name"
done
echo "$(ls "$to/load" | wc -l) seeds"
[ -n "$(ls "$to/load")" ]
