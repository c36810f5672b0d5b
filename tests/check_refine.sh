#!/bin/sh
# check_refine.sh - programs with symbolic sizes become programs of fixed sizes
# that are well-formed, typed, printed, written and run as the originals are
# (tests/transform/refining.c): the demo's, the rules' examples, and a part of
# what tests/typing/poly_harnesses.py dumps of JAX's own tests, one document per
# line.  `check_refine.sh --list FILE` takes the paths in a file instead.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
refining=$build/tests/refining

if [ $# -gt 0 ]; then
    exec "$refining" "$@"
fi
{
    gzip -dc tests/transform/poly.jsonl.gz | "$refining" --lines - &&
        "$refining" demo/data/*.json.gz tests/rules/*.json.gz \
            tests/rules/*.jaxpr tests/host/scale.json
} >"$build/refine.log" || {
    cat "$build/refine.log"
    exit 1
}
# Nothing may fall away unnoticed.
awk '/ refined / {
    for (i = 2; i <= NF; i++) {
        if ($i ~ /^refined/) refined += $(i - 1)
        if ($i ~ /^ran/) ran += $(i - 3)
    }
}
END {
    printf "refine: %d programs at sizes, %d ran as the originals do\n", refined, ran
    exit !(refined >= 400 && ran >= 400)
}' "$build/refine.log"
