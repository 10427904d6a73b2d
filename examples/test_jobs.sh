#!/usr/bin/env bash
# The programs on librvm: figures that were computed independently (by complex steps), and what damaged files get.
# usage: test_jobs.sh BINARY_FOLDER SOURCE_FOLDER; real inputs are read from $RVM_DATA, or ../shared/data beside the sources
set -uo pipefail
bundle=$1/bundle_adjustment/bundle_adjustment gmm=$1/gmm/gmm scene=$1/bundle_adjustment/scene
here=$2/examples
data=${RVM_DATA:-$2/../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "failed: $*"
    failed=1
}

# figures COMMAND... -- NAME VALUE ...: the command's JSON has these values to a relative 1e-10.
figures() {
    local command=() output
    while [ "$1" != -- ]; do command+=("$1") && shift; done
    shift
    output=$("${command[@]}") || fail "${command[*]}: exit status $?"
    while [ $# -gt 0 ]; do
        sed -n "s/.*\"$1\":\([-+.0-9e]*\).*/\1/p" <<<"$output" |
            awk -v want="$2" '{ d = $1 / want - 1; found = d < 1e-10 && d > -1e-10 } END { exit !found }' ||
            fail "${command[*]}: expected $1 $2, got $output"
        shift 2
    done
}

# rejected MESSAGE COMMAND...: exit status 3 and a message that contains this.
rejected() {
    local message=$1 output status
    shift
    output=$("$@" 2>&1)
    status=$?
    [ "$status" -eq 3 ] && [[ $output == *"$message"* ]] || fail "$*: expected '$message', got status $status: $output"
}

for options in "" --unchecked; do
    figures "$bundle" "$here/bundle_adjustment/scene.txt" $options -- \
        observations 657 cost 332.6750245340141 rms 0.7115860310995668 gradient_norm 12500.607064042782
    figures "$gmm" "$here/gmm/small.txt" $options -- objective -137.99904344967797 gradient_norm 26.937837137232314
done
"$scene" 6 200 0.5 1 | cmp - "$here/bundle_adjustment/scene.txt" || fail "scene.txt is what its README says"

# Every observation has two rows of twelve entries: nine of a camera, three of a point.
"$bundle" "$here/bundle_adjustment/scene.txt" --jacobian "$work/j.mtx" >/dev/null || fail "--jacobian"
awk 'NR == 1 { ok = $0 == "%%MatrixMarket matrix coordinate real general"; next }
     NR == 2 { ok = ok && $1 == 1314 && $2 == 654 && $3 == 15768; next }
     { k = (NR - 3) % 12; if ($1 != int((NR - 3) / 12) + 1 || NF != 3 || (k < 9 ? $2 < 1 || $2 > 54 : $2 < 55 || $2 > 654)) ok = 0 }
     END { exit !(ok && NR == 15770) }' "$work/j.mtx" || fail "the Jacobian's entries"

damage() { sed "$1" "$here/$2" >"$work/damaged.txt"; }
damage '5s/^[0-9]*/17/' bundle_adjustment/scene.txt
rejected ":5: the camera of an observation is 17, but must be from 0 to 5" "$bundle" "$work/damaged.txt"
damage '9s/ [0-9]*/ 200/' bundle_adjustment/scene.txt
rejected ":9: the point of an observation is 200, but must be from 0 to 199" "$bundle" "$work/damaged.txt"
damage '1s/657/999999999/' bundle_adjustment/scene.txt
rejected ":1: the file announces" "$bundle" "$work/damaged.txt"
damage '1s/^6/-6/' bundle_adjustment/scene.txt
rejected ":1: the number of cameras is -6" "$bundle" "$work/damaged.txt"
damage '1300q' bundle_adjustment/scene.txt
rejected "expected a point coordinate, but the file ends" "$bundle" "$work/damaged.txt"
damage '700s/.*/nan/' bundle_adjustment/scene.txt
rejected ":700: a camera parameter is nan" "$bundle" "$work/damaged.txt"
damage '$s/$/ 1/' bundle_adjustment/scene.txt
rejected "expected the end of the file, found '1'" "$bundle" "$work/damaged.txt"
damage '2s/.*/x/' gmm/small.txt
rejected ":2: expected an alpha, found 'x'" "$gmm" "$work/damaged.txt"
damage '$s/.*/0 0/' gmm/small.txt
rejected "gamma is 0, but must be positive" "$gmm" "$work/damaged.txt"
damage '30q' gmm/small.txt
rejected "but the file ends" "$gmm" "$work/damaged.txt"
rejected "absent.txt: No such file" "$bundle" "$work/absent.txt"
rejected "there is no function" "$bundle" "$here/bundle_adjustment/scene.txt" --program "$here/norm.rasm"
rejected "cannot write" "$bundle" "$here/bundle_adjustment/scene.txt" --jacobian "$work/absent/j.mtx"

# By either engine: the mixture is compiled anew for each d and K, which takes longer than all else here.
if [ -d "$data" ]; then
    figures "$bundle" "$data/ba/balbianello-5-544.txt" -- cost 253.85664642236134 rms 0.42326206274970396
    figures "$gmm" "$data/gmm/gmm_1k_d2_K5.txt" --engine interp -- objective -5240.59056254958 gradient_norm 1277.18886467943
    figures "$gmm" "$data/gmm/gmm_1k_d10_K25.txt" -- objective -25649.6526211973 gradient_norm 2662.39860131242
    figures "$gmm" "$data/gmm/gmm_1k_d20_K10.txt" --engine interp -- objective -112201.91574224 gradient_norm 13088.5863073923
else
    echo "skipped: no real inputs at $data"
fi
exit $failed
