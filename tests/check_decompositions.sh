#!/bin/sh
# A decomposition that is edited wrongly stops the build, which says where it is
# wrong: the rule of the Makefile is run over copies with a fault each.
set -u
build=${BUILD:-build}
from=frontend/decompose/igamma.jaxpr
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# What to edit (sed), and what must be said of it.
try() {
    sed "$1" "$from" >"$work/igamma.jaxpr"
    if cmp -s "$from" "$work/igamma.jaxpr"; then
        echo "decompositions: '$1' edits nothing"
        bad=1
    fi
    if make -s -o "$build/tests/decompositions" BUILD="$build" CHECKED="$work/checked" \
        JAXPRS_CHECKED="$work/igamma.jaxpr" "$work/checked" >"$work/out" 2>&1; then
        echo "decompositions: '$1' stops nothing"
        bad=1
    fi
    line=$(grep -n -- "$2" "$work/igamma.jaxpr" | head -n 1 | cut -d: -f1)
    grep -qF "igamma.jaxpr:${line:-1}: $3" "$work/out" || {
        echo "decompositions: '$1' is not told as '${line:-1}: $3' but as"
        cat "$work/out"
        bad=1
    }
}

try 's/r1:$V = add r 1.0/r1:$V = add r q/' 'add r q' "unreadable: 'q"
try 's/rest:$V = sub alogx/rest:$B = sub alogx/' 'sub alogx' 'wrong: result 0: inferred f32[n,2], declared bool[n,2]'
try 's/factor:$V = exp ax/factor:$V = expo ax/' 'expo ax' 'not settled: expo'
try 's/gt ratio $eps/gt ratio $epsilon/' 'gt ratio' 'unreadable: nothing is known by `$epsilon`'
try 's/jaxpr=series\] factor x a on_other/jaxpr=series] factor x a/' 'factor x a$' 'unreadable: jit: '
try 's/in (out3,) }/in (wrong,) }/' 'jit.name=$P' 'wrong: result 0'
try 's/^{ lambda ; a:$V x:$V/{ lambda ; a:$V x:$V z:$V/' '^{ lambda' 'takes or gives another number of arrays'
try '/^#: example/d' 'nowhere' 'has no example'
try 's/^#: P = .*/#: P = igamma/; s/= $P a x in/= igammac a x in/' '#: example' 'is not about its example'
exit $bad
