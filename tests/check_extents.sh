#!/bin/sh
# check_extents.sh - bounds of values hold for random programs, on our own runtime
# (extents_random.c; make extents-random takes a million).
set -u
cd "$(dirname "$0")/.." || exit 1
"${BUILD:-build}/tests/extents_random" --programs 4000 --seed 0 >"${TMPDIR:-/tmp}/extents.$$"
status=$?
if [ $status -ne 0 ]; then head -n 60 "${TMPDIR:-/tmp}/extents.$$"; fi
tail -n 1 "${TMPDIR:-/tmp}/extents.$$"
rm -f "${TMPDIR:-/tmp}/extents.$$"
exit $status
