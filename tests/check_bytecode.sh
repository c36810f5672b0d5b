#!/bin/sh
# check_bytecode.sh - modules of MLIR bytecode (the seeds of fuzz_bytecode) are
# read, written byte for byte and turned into StableHLO; at another version and
# back they are what they were; changed by their structure they are refused with
# a place, or good.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
seeds=tests/fuzz/fuzz_bytecode
out=$build/tests/bytecode

"$build/tests/decode" "$seeds"/*.mlirbc >"$build/decode.log" || {
    grep -v 'bytes a byte' "$build/decode.log"
    exit 1
}
tail -n 1 "$build/decode.log"

# The newest version's file of each, at the oldest version and back again.
rm -rf "$out"
mkdir -p "$out/now" "$out/old" "$out/back"
"$build/tests/rewrite" 1.15.0 "$out/now" "$seeds"/*.mlirbc >/dev/null
"$build/tests/rewrite" 0.19.0 "$out/old" "$out"/now/*.mlirbc >/dev/null
"$build/tests/rewrite" 1.15.0 "$out/back" "$out"/old/*.mlirbc >/dev/null
for file in "$out"/now/*.mlirbc; do
    name=$(basename "$file")
    case $name in
    batched_gather.mlirbc | switch_062.mlirbc)
        # Batching dimensions came with VHLO 1.1.0, tan with 1.4.0.
        [ ! -e "$out/old/$name" ]
        ;;
    *)
        cmp "$file" "$out/back/$name"
        ;;
    esac
done
# By way of StableHLO nothing is lost, either.
rm -rf "$out/back"
mkdir -p "$out/back"
"$build/tests/rewrite" through:1.15.0 "$out/back" "$out"/now/*.mlirbc >/dev/null
for file in "$out"/now/*.mlirbc; do
    cmp "$file" "$out/back/$(basename "$file")"
done

"$build/tests/mutate_bytecode" "${MUTATIONS:-5000}" "$seeds"/*.mlirbc
