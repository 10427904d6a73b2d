# What the tests of the commands share; they source it with the folder of the binaries as their first word.
# expect STATUS TEXT COMMAND...: runs it, and wants that exit status and TEXT (a shell pattern) somewhere in its output.
# expect_not STATUS TEXT COMMAND...: wants TEXT nowhere in it. At the end: finish.
set -u
bin=$(cd "$1" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

run_and_judge() {
    wanted=$1 status=$2 text=$3
    shift 3
    output=$("$@" 2>&1 </dev/null)
    got=$?
    # shellcheck disable=SC2254 # TEXT is a pattern
    case $output in
    *$text*) found=yes ;;
    *) found=no ;;
    esac
    [ $found = "$wanted" ] && [ "$got" -eq "$status" ] && return
    failures=$((failures + 1))
    [ "$wanted" = yes ] && without= || without='no '
    printf 'FAILED: %s\n  wanted status %s and %s: %s\n  got status %s and: %s\n' "$*" "$status" "$without" "$text" "$got" \
        "$output"
}
expect() { run_and_judge yes "$@"; }
expect_not() { run_and_judge no "$@"; }
rvm() { "$bin/rvm" "$@"; }
rasm() { "$bin/rasm" "$@"; }
finish() {
    [ $failures -eq 0 ] || printf '%s failed\n' $failures
    exit $((failures > 0))
}
