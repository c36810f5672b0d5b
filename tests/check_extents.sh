#!/bin/sh
# check_extents.sh - bounds of values hold for random programs, on our own runtime, and for those
# that had values outside once (extents_random.c; make extents-random takes a million).
set -u
cd "$(dirname "$0")/.." || exit 1
out="${TMPDIR:-/tmp}/extents.$$"
status=0
for what in "--programs 3000 --seed 0" "--kept tests/extents/kept.txt"; do
    # shellcheck disable=SC2086 # several words
    "${BUILD:-build}/tests/extents_random" $what >"$out" || { status=1; head -n 60 "$out"; }
    tail -n 1 "$out"
done
rm -f "$out"
exit $status
