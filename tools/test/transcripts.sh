#!/bin/sh
# Runs the commands of the console blocks of a page and compares what they print with what the page says.
# transcripts.sh FOLDER_OF_BINARIES REPOSITORY PAGE [update]        update: write what they print into the page
set -eu
bin=$(cd "$1" && pwd)
root=$(cd "$2" && pwd)
page=$root/$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root/examples" "$work/examples"
cd "$work"
PATH=$bin:$PATH
inside=
while IFS= read -r line; do
    case $inside$line in
    '```console') inside=1 && printf '%s\n' "$line" ;;
    '1```') inside= && printf '%s\n' "$line" ;;
    '1$ '*) printf '%s\n' "$line" && { sh -c "${line#??}" 2>&1 </dev/null || true; } ;;
    1*) ;; # what it printed last time
    *) printf '%s\n' "$line" ;;
    esac
done <"$page" >page
if [ "${4-}" = update ]; then cp page "$page"; fi
diff -u "$page" page
