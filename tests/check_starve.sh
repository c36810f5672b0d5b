#!/bin/sh
# check_starve.sh - memory that ends: a sample of what `make starve` tries, of the
# command and of a host.
set -eu
cd "$(dirname "$0")/.."
name=starve
. tests/host/begin.sh
${CC:-cc} -O1 -Wall -Wextra -shared -fPIC -o "$root/fail_malloc.so" tests/starve/fail_malloc.c -ldl
sample=${STARVE:---sample 5}
# shellcheck disable=SC2086 # words
python3 tests/starve/starve.py $sample "$build/jaxvet" "$root/fail_malloc.so"

${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. tests/host/starve.c \
    "$root/fail_malloc.so" -L"$build" -ljaxvet -Wl,-rpath,"$root" -o "$root/host"
# The library is found under its soname, and its helper beside it.
ln -s "$(realpath "$build")/libjaxvet.so" "$root/libjaxvet.so.0"
JAXVET_SOLVER=$(realpath "$build")/jaxvet-solver GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
    LD_LIBRARY_PATH=$root "$root/host" "${STARVE_HOST:-5}" tests/starve/rules.json tests/starve/sizes.json \
    tests/data/exported/0.10.2-vjp2.jaxexport tests/data/exported/0.8.3-checks.jaxexport \
    tests/data/exported/0.10.2-shard_map.jaxexport tests/stablehlo/dynamic.mlir \
    tests/rules/SHP013_passes.jaxpr
