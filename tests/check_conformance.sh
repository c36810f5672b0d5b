#!/bin/sh
# Some of JAX's own harnesses, of both pinned releases
# (scripts/make_conformance_data.py), and programs for what they leave out
# (scripts/dump_kernels.py), of what newer releases of JAX have
# (scripts/dump_newer.py), and of what StableHLO has and JAX has not
# (scripts/dump_stablehlo.py), documents and answers checked in, must run and
# equal JAX; and lowered, printed and read back they must give the same bits.
set -eu
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(cd "$(dirname "$0")" && pwd)/conformance

unpack() { # folder, archive
    mkdir -p "$work/$1"
    tar -xzf "$here/$2.tar.gz" -C "$work/$1"
}

unpack old sample
unpack old kernels
unpack old stablehlo
unpack new sample-new
unpack new newer
for each in old new; do
    "$build/tests/runner" "$work/$each" --off "$here/jax_is_off.txt" \
        --misses "$work/misses" >"$work/out" ||
        { cat "$work/out" "$work/misses"; exit 1; }
    echo "conformance: $(tail -n 1 "$work/out")"
    "$build/tests/runner" "$work/$each" --lowered --off "$here/lowered_otherwise.txt" \
        --misses "$work/misses" >"$work/out" 2>&1 ||
        { cat "$work/out" "$work/misses"; exit 1; }
    echo "conformance: $(tail -n 1 "$work/out")"
done
