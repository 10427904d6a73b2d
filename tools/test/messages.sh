#!/bin/sh
# What the commands say where something is wrong: the line, a caret, what helps. messages.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

cat >std.inc.rasm <<'TEXT'
fn included(x: real)
    x += 1
end
TEXT
cat >two.rasm <<'TEXT'
include "std.inc.rasm"
fn double(x: real, n: i64)
    while x < 100
        set x = x * 2
    end
    n += 1
end
fn lost(y: real, x: real)
    let t = x
    t += sqrt(x)
    y += t
    t -= sqrt(x)
end
TEXT
cat >one.rasm <<'TEXT'
include "std.inc.rasm"
fn only(x: real)
    call included(x)
end
TEXT
line='two.rasm:9:5: error: ancilla `t` is nan*
        let t = x
        ^
    hint: *`set`*--exact'

# the line and a caret, from the source and from bytecode whose source is still what it was made from
expect 1 "$line" rvm run two.rasm lost x=-1
expect 0 '' rasm two.rasm
expect 1 "$line" rvm run two.rbc lost x=-1
expect 0 '' rvm transform two.rbc --gradient double -o more.rbc
expect 1 "$line" rvm run more.rbc lost x=-1
cp two.rasm kept.rasm
{ echo '# another line' && cat kept.rasm; } >two.rasm
expect_not 1 '^' rvm run two.rbc lost x=-1
rm two.rasm
expect_not 1 '^' rvm run two.rbc lost x=-1
cp kept.rasm two.rasm
expect 1 '"source":"        let t = x?n        ^","hint":"where' rvm run two.rasm lost x=-1 --json
expect 3 '"diagnostics":*"severity":"error","code":"IO"*"source":"    include ?"none?"*"hint":"looked' \
    sh -c "echo 'include \"none\"' >bad.rasm; '$bin/rvm' run bad.rasm --json"

# warnings: the program runs; with --json they are diagnostics, and an error is the first error
printf 'fn f(y: real, x: real)\n    compute\n        y += x\n    do\n    undo\nend\n' >undone.rasm
{ sed '$d' undone.rasm && printf '    y += q\nend\n'; } >unknown.rasm
warned="undone.rasm:3:9: warning: the undo of line 5 takes this change of 'y' back*
            y += x
            ^~~~~~
    hint: what is to last stands in the do part"
expect 0 "$warned*y = 0" rvm run undone.rasm y=0 x=1
expect 0 "$warned" rasm undone.rasm
expect 0 "$warned*8 of 8 checks passed" rvm check undone.rasm y=0 x=1
expect 2 "$warned*is not a number" rvm run undone.rasm y=bad x=1
expect 0 '"ok":true,"diagnostics":[[]{"severity":"warning","code":"OK"*"line":3*"values":{"y":0' rvm run undone.rasm y=0 x=1 --json
expect 3 'unknown.rasm:3:9: warning: *unknown.rasm:6:10: error: ' rasm unknown.rasm
expect 3 '"error":{"severity":"error","code":"NAME"*"diagnostics":[[]{"severity":"warning"*},{"severity":"error"' rasm unknown.rasm --json

# names of the user's, not of registers
expect 1 'nothing tells how often this `while` turned, going backward: the trail is exhausted' rvm run two.rasm double x=128 n=1 --backward
printf 'fn f(z: real, c: i64)\n    set z = 2.0 if c > 0\nend\n' >set_if.rasm
expect 1 'nothing comes back for this statement, going backward: the trail is exhausted' rvm run set_if.rasm z=1 c=1 --backward
expect 2 'name one of: double, lost [[]USAGE]' rvm run two.rasm
expect 2 '"message":"two.rasm has several functions; name one of: double, lost"' rvm run two.rasm --json
expect 0 'x = 2' rvm run one.rasm x=1
i=0
while [ $i -lt 60 ]; do
    printf 'fn a_function_with_a_long_name_%s(x: real)\n    x += 1\nend\n' $i
    i=$((i + 1))
done >many.rasm
expect 2 'a_function_with_a_long_name_59 [[]USAGE]' rvm run many.rasm
expect 2 '--depth 0 allows no call at all' rvm run one.rasm x=1 --depth 0
for limit in fuel memory trail-limit; do
    expect 2 "--$limit is at least 1, not \`0\`" rvm run one.rasm x=1 --$limit 0
done
for size in abc 12q -5 5kk; do
    expect 2 "RVM_CACHE_SIZE is \`$size\`, which is no size" env RVM_CACHE_SIZE=$size "$bin/rvm" run one.rasm x=1
done
expect 0 'x = 2' env RVM_CACHE_SIZE=12M "$bin/rvm" run one.rasm x=1

printf 'fn f(x: real[n])\n    neg x[0]\nend\n' >array.rasm
# a value that the shell has split; what is to be forgotten, by what it must disappear as
expect 2 'x: a `]` is missing: no spaces in a value, or quote it' rvm run array.rasm x=[3, 4]
printf 'fn zero(x: real)\n    let t: real\n    t += x\nend\nfn same(x: real)\n    let t = x\n    t += 1\nend\n' >forget.rasm
expect 1 'takes `drop`, which leaves 0' rvm run forget.rasm zero x=1
expect 1 'takes `set`, to what it must disappear as' rvm run forget.rasm same x=1

# explain, help
for code in RELEASE release NOT_RESTORABLE not-restorable FUEL; do expect 0 'exit status' rvm explain $code; done
# an example that is a program is refused with the code that it explains
programs=0
for code in $(rvm explain | sed -n 's/^\([A-Z_]*\)  *[0-4]  .*/\1/p'); do
    expect 0 "$code: " rvm explain "$code"
    rvm explain "$code" | sed -n 's/^    //p' >example.rasm
    case $(cat example.rasm) in
    fn\ *) ;;
    *) continue ;;
    esac
    programs=$((programs + 1))
    expect 3 "\"error\":{\"severity\":\"error\",\"code\":\"$code\"" rasm example.rasm --json
done
expect 0 4 echo $programs
expect 0 '"code":"RELEASE","exit":1' rvm explain RELEASE --json
expect 0 '"code":"INTERNAL"' rvm explain --json
expect 2 'did you mean RELEASE?' rvm explain RELAESE
expect 2 'did you mean TYPE?' rvm explain tpye
expect 2 'there is no code `foo`; rvm explain lists them' rvm explain foo
expect 2 'there is no code `NOPE`; rvm explain lists them' rvm explain NOPE
expect 0 'usage: rvm [[]options] COMMAND' rvm help
expect 0 'usage: rvm grad' rvm help grad
expect 0 'usage: rasm' rvm help rasm
expect 2 'did you mean `grad`' rvm help gard

# the debugger: letters of gdb, and the right word
debug() { printf '%s\n' "$@" | "$bin/rvm" debug two.rasm double x=60 n=0; }
expect 0 '1: break at two.rasm:4' debug 'b 4'
expect 0 'break where?*`back`, or rs' debug b
expect 0 'set x = x \* 2*while x < 100' debug s s rs
for word in rs reverse-step rn reverse-next rsi reverse-stepi rc reverse-continue; do expect 0 'this is the start' debug $word; done
expect 0 'x = 60' debug 'p x'
expect 0 'there is no command `until`: `break LINE`, then `continue`' debug 'until 5'
expect 0 'previous takes a count, not `x`' debug 'previous x'
for count in -1 0 +2 1.5; do
    expect 0 "step takes a count, not \`$count\`" debug "step $count"
    expect 0 "back takes a count, not \`$count\`" debug s s "back $count"
done
expect_not 0 'the end is reached' debug 'step -1'
cat >region.rasm <<'TEXT'
fn region(out: real, x: real)
    compute
        let t = x
    do
        out += t
    undo
end
TEXT
in_region() { printf '%s\n' "$@" | "$bin/rvm" debug region.rasm x=3; }
expect 0 '1: break
at the start of region
*1: break
region.rasm:2 in region, running backward
*the end is reached' in_region 'b region' c c c
expect 0 'this is the outermost frame' debug up
expect 0 'this is the innermost frame' debug down
expect 0 'x = 60' debug 'info locals'

# with --json, notes are diagnostics, and a check that fails is an error as any other
printf 'fn w(y: real, x: real)\n    y += abs(x)\n    y += min(x, 0)\nend\n' >corners.rasm
cornered='"diagnostics":[[]{"severity":"note","code":"OK","message":"no derivative by `x` at corners.rasm:2, in w (abs): by its rule it is -1","file":"corners.rasm","line":2,"column":5,"source":"        y += abs(x)?n        ^","hint":null},{"severity":"note"*}[]],"values"'
for of in 'grad --of y' 'vjp --seed y=1' 'jvp --dot x=1' 'jac --of y' 'hess --of y' 'hvp --of y --dot x=1'; do
    # shellcheck disable=SC2086 # words
    expect 0 "$cornered" rvm $of corners.rasm x=0 --json
    # shellcheck disable=SC2086
    expect_not 0 ': note: ' rvm $of corners.rasm x=0 --json
done
printf 'fn lossy(y: real, x: real)\n    y += x * 1e9\n    y -= x * 1e9\n    y *= 1e-300\n    y *= 1e-300\nend\n' >lossy.rasm
failed='{"severity":"error","code":"CHECK","message":"2 of 3 checks failed","file":null,"line":null,"column":null,"source":null,"hint":null}'
expect 1 "{\"ok\":false,\"error\":$failed,\"diagnostics\":[[]$failed[]],\"checks\"" rvm check lossy.rasm y=1 x=1 --json

# what is quoted of a value is its line
printf 'fn n(x: real[m], k: i64, z: complex)\n    k += 1\n    x[0] += z.re\nend\n' >n.rasm
expect 2 'k: expected the end of the value, found `2` [[]ARG' sh -c "printf '1 2\n' | '$bin/rvm' run n.rasm x=[1] z=1 k=@-"
expect 2 'z: `1+2` is no complex number: 2+3i is one [[]ARG' sh -c "printf '1+2\n' | '$bin/rvm' run n.rasm x=[1] k=1 z=@-"

# a derivative program runs exactly where it was derived for that
printf 'fn r(y: real, x: real)\n    set x = x * 0.3\n    y += sin(x)\n    x += y\nend\n' >recorded.rasm
expect 0 'x_b = 0.28660094673768177' rvm run recorded.rasm "r'grad" y=0 y_b=1 x=1 --save-record F
expect 0 '' rvm transform recorded.rasm --gradient r -o derived.rbc
expect 2 'this derivative program: it was derived for other runs [[]UNSUPPORTED]*hint: `rasm --exact`' \
    rvm run derived.rbc "r'grad" y=0 y_b=1 x=1 --exact
expect 0 '' rvm transform recorded.rasm --gradient r --exact -o derived.rbc
expect 0 'x_b = 0.28660094673768177' rvm run derived.rbc "r'grad'exact" y=0 y_b=1 x=1 --exact
expect 0 'd y / d x' rvm grad recorded.rasm r --of y y=0 x=1 --exact

expect 0 "raw fn r'grad'exact*swept start" rvm dis recorded.rasm "r'grad" --exact
expect_not 0 'swept' rvm dis recorded.rasm "r'grad"

# and second tangents, of whose temporaries other runs ask no bits
{
    printf 'fn f(out: real, y: real)\n    inv y\n    out += y\nend\nfn g(out: real, y: real)\n    compute\n'
    printf '        let %s: real\n' e e_d e_b e_b_d y_b_d
    printf '        let y_d: real\n        let y_b: real = 1\n'
    printf "        call f'tan'tan(e, e_d, e_b, e_b_d, y, y_d, y_b, y_b_d)\n    do\n        out += e_b\n    undo\nend\n"
} >seconds.rasm
expect 0 '' rasm seconds.rasm
expect 2 'program: it was derived for other runs [[]UNSUPPORTED]' rvm run seconds.rbc g out=0 y=0.3 --exact
expect 0 'out = -11.11111111111111' rvm run seconds.rbc g out=0 y=0.3
expect 0 'out = -11.11111111111111' rvm run seconds.rasm g out=0 y=0.3 --exact

# the instance of a parallel block that fails; a statement on whole arrays has none in the source
printf 'fn f(y: real[n], x: real[n])\n    parallel i in 0..n\n        y[i] *= x[i]\n    end\nend\n' >instance.rasm
printf 'fn whole(y: real[n], x: real[n])\n    y *= x\nend\n' >>instance.rasm
expect 1 'instance.rasm:3:9: error: the factor of `y[[]i]` is 0: it must be finite and not 0, in instance i = 1 [[]DOMAIN]' \
    rvm run instance.rasm f 'y=[1,1]' 'x=[1,0]'
expect 1 'instance.rasm:7:5: error: the factor of `y[[]1]` is 0: it must be finite and not 0 [[]DOMAIN]' \
    rvm run instance.rasm whole 'y=[1,1]' 'x=[1,0]'

# colours on a terminal only, and not where NO_COLOR is
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then # there are pseudo-terminals
    coloured=$(printf '\033[[]1;31merror: ')
    on_terminal() { TERM=xterm script -qec "$*" /dev/null; }
    expect 1 "$coloured" on_terminal "'$bin/rvm' run two.rasm lost x=-1"
    expect_not 1 "$coloured" on_terminal "NO_COLOR=1 '$bin/rvm' run two.rasm lost x=-1"
    expect_not 1 "$coloured" on_terminal "TERM=dumb '$bin/rvm' run two.rasm lost x=-1"
fi
expect_not 1 "$(printf '\033')" rvm run two.rasm lost x=-1
finish
