#!/bin/sh
# fuzz.sh TARGET - runs build/fuzz/TARGET for $FUZZ_SECONDS from the seeds in
# tests/fuzz/TARGET (if any) and what earlier runs kept.  What crashes is left in
# build/fuzz/TARGET-crash-*.
set -eu
cd "$(dirname "$0")/.."
target=$1
corpus=build/fuzz/corpus/$target
seeds=
[ -d "tests/fuzz/$target" ] && seeds=tests/fuzz/$target
mkdir -p "$corpus"
log=build/fuzz/$target.log
# shellcheck disable=SC2086 # $seeds may be nothing
if ! "build/fuzz/$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$target-" "$corpus" $seeds >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "fuzz $target: failed; the input is build/fuzz/$target-*"
    exit 1
fi
# The last status line has the edges covered ("cov:") and the corpus ("corp:").
status=$(grep 'cov:' "$log" | tail -n 1 | sed 's/.*\(cov:.*corp: [^ ]*\).*/\1/')
runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
echo "fuzz $target: no finding in $runs runs; $status"
