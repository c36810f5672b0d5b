#!/bin/sh
# in_parts.sh NAME PARTS COMMAND... - runs the command with $SEED from 1 to PARTS,
# one after the other, and prints how each ends.  What each says is kept in
# $PARTS_KEPT/NAME (build/parts/NAME): a part that has passed is not run again, so
# that a long run may be stopped at any time.  Two of them share the parts.
set -eu
cd "$(dirname "$0")/.."
name=$1
parts=$2
shift 2
kept=${PARTS_KEPT:-build/parts}/$name
mkdir -p "$kept"
for seed in $(seq 1 "$parts"); do
    log=$kept/$seed
    if [ ! -f "$log.passed" ]; then
        # Whoever makes the folder runs it; one left by a run that was stopped goes.
        if ! mkdir "$log.now" 2>/dev/null; then
            kill -0 "$(cat "$log.now/pid")" 2>/dev/null && continue
        fi
        echo $$ >"$log.now/pid"
        if ! SEED=$seed "$@" >"$log.log" 2>&1; then
            tail -n 20 "$log.log"
            echo "$name: part $seed failed (see $log.log)"
            rm -r "$log.now"
            exit 1
        fi
        mv "$log.log" "$log.passed"
        rm -r "$log.now"
    fi
    grep -v '^\[' "$log.passed" | sed "s|^|$name, seed $seed: |"
done
