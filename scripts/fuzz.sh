#!/bin/sh
# fuzz.sh TARGET - runs build/fuzz/TARGET from the seeds in tests/fuzz/TARGET (if
# any) and what earlier runs kept: for $FUZZ_SECONDS, or with $FUZZ_RUNS in pieces
# of that length until it has run so often in all (build/fuzz/TARGET.runs counts,
# so that it may be interrupted).  What crashes is left in build/fuzz/TARGET-*.
set -eu
cd "$(dirname "$0")/.."
target=$1
seconds=${FUZZ_SECONDS:-60}
wanted=${FUZZ_RUNS:-0}
corpus=build/fuzz/corpus/$target
seeds=
[ -d "tests/fuzz/$target" ] && seeds=tests/fuzz/$target
mkdir -p "$corpus"
log=build/fuzz/$target.log
counter=build/fuzz/$target.runs

runs_so_far() {
    cat "$counter" 2>/dev/null || echo 0
}

fuzz() {
    # shellcheck disable=SC2086 # $seeds may be nothing
    if ! "build/fuzz/$target" -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -close_fd_mask=3 \
        -artifact_prefix="build/fuzz/$target-" "$corpus" $seeds >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "fuzz $target: failed; the input is build/fuzz/$target-*"
        exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    echo $(($(runs_so_far) + runs)) >"$counter"
}

fuzz
while [ "$(runs_so_far)" -lt "$wanted" ]; do
    fuzz
done
# The last status line has the edges covered ("cov:") and the corpus ("corp:").
status=$(grep 'cov:' "$log" | tail -n 1 | sed 's/.*\(cov:.*corp: [^ ]*\).*/\1/')
echo "fuzz $target: no finding in $runs runs ($(runs_so_far) in all); $status"
